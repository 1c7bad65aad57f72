import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { FastifyReply } from 'fastify';
import { describe, expect, onTestFinished, test } from 'vitest';
import { SseStream } from '../http/waiting/sse.ts';
import { Backlog, EVERYTHING } from './backlog.ts';

/** A reader who takes one thing at a time, when told to. */
function slowReader() {
  const told: string[] = [];
  let take = () => {};
  const backlog = new Backlog((about) => {
    told.push(about);
    return new Promise((resolve) => {
      take = resolve;
    });
  });
  const next = async () => {
    take();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { backlog, told, next };
}

describe('a reader who is behind', () => {
  test('[D60] is told every name once, in order, however often it changed', async () => {
    const { backlog, told, next } = slowReader();
    for (const name of ['a', 'b', 'c', 'b', 'b']) backlog.add([name]);
    expect(told).toEqual(['a']);
    for (let i = 0; i < 3; i++) await next();
    backlog.add(['a']);
    expect(told).toEqual(['a', 'b', 'c', 'a']);
  });

  test('[D60] far behind is told one word, and costs no more memory than that', async () => {
    const { backlog, told, next } = slowReader();
    for (let i = 0; i < 10_000; i++) backlog.add([`delivery-${i}`]);
    expect(backlog.size).toBeLessThanOrEqual(200);
    await next();
    expect(told).toEqual(['delivery-0', EVERYTHING]);
    await next();
    backlog.add(['later']);
    expect(told.at(-1)).toBe('later');
  });

  test('[D60] a reader that takes nothing at all is disconnected', async () => {
    const { stream, closed } = await stalledStream();
    for (let i = 0; i < 3; i++) stream.beat();
    expect(stream.closed).toBe(false);
    stream.beat();
    await closed;
    expect(stream.closed).toBe(true);
  });
});

/** A real connection whose other end never reads, filled until it takes no more. */
async function stalledStream(): Promise<{ stream: SseStream; closed: Promise<void> }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  onTestFinished(() => {
    socket.destroy();
    server.close();
  });
  socket.on('error', () => {}).pause();
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  const raw = await new Promise<ServerResponse>((resolve) => server.once('request', (_, r) => resolve(r)));
  const reply = { raw, hijack() {} } as unknown as FastifyReply;
  let stream: SseStream | undefined;
  const closed = new Promise<void>((resolve) => {
    stream = new SseStream(reply, resolve);
  });
  const data = 'x'.repeat(100_000);
  if (stream === undefined) throw new Error('no stream was opened');
  while (stream.send({ event: 'change', data }));
  return { stream, closed };
}
