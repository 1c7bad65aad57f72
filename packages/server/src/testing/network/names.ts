import { createSocket, type RemoteInfo } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import ipaddr from 'ipaddr.js';
import { onTestFinished } from 'vitest';

/** What a name server says: addresses of one family, or null for no answer at all. */
export type Zone = (question: { name: string; family: 4 | 6 }) => readonly string[] | null;

/** A real name server on a UDP port of loopback, and a resolver that asks nobody else. */
export async function nameServer(zone: Zone): Promise<{ questions: string[]; makeResolver: () => Resolver }> {
  const questions: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (query: Buffer, from: RemoteInfo) => {
    const question = readQuestion(query);
    questions.push(`${question.family === 4 ? 'A' : 'AAAA'} ${question.name}`);
    const addresses = zone(question);
    if (addresses !== null) socket.send(reply(query, question.end, addresses), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => void socket.close(resolve)));
  const { port } = socket.address();
  return { questions, makeResolver: () => resolverAt(`127.0.0.1:${port}`) };
}

function resolverAt(server: string): Resolver {
  const resolver = new Resolver({ timeout: 2000, tries: 1 });
  resolver.setServers([server]);
  onTestFinished(() => resolver.cancel());
  return resolver;
}

type Question = { name: string; family: 4 | 6; end: number };

function readQuestion(query: Buffer): Question {
  const labels: string[] = [];
  let at = 12;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return {
    name: labels.join('.').toLowerCase(),
    family: query.readUInt16BE(at + 1) === 28 ? 6 : 4,
    end: at + 5,
  };
}

function reply(query: Buffer, questionEnd: number, addresses: readonly string[]): Buffer {
  const header = Buffer.from(query.subarray(0, 12));
  header.writeUInt16BE(0x8580, 2); // an answer, with authority, no error
  header.writeUInt16BE(addresses.length, 6);
  header.writeUInt32BE(0, 8);
  return Buffer.concat([header, query.subarray(12, questionEnd), ...addresses.map(record)]);
}

// The name is a pointer to the question; the time to live is 0, as a rebinding server has it.
function record(address: string): Buffer {
  const data = Buffer.from(ipaddr.parse(address).toByteArray());
  const head = Buffer.from([0xc0, 12, 0, data.length === 4 ? 1 : 28, 0, 1, 0, 0, 0, 0, 0, data.length]);
  return Buffer.concat([head, data]);
}
