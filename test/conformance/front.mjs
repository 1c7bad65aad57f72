import { createServer, request as send } from 'node:http';

/**
 * What stands between the official kits and the server (docs/conformance.md). Nothing is answered here; only what the
 * kits cannot do is done for them:
 *
 * - they send no credentials, so that of the agent is added: public callers are limited, and have no extended card;
 * - they look for the agent at the root of the host, and the one for 1.0 asks for its card without naming a version;
 * - they use one message id for many messages, which here are one message (A8), so a number is added, and taken away
 *   again in what comes back;
 * - the one for 0.3 expects to be answered before the work is done, so it asks not to wait (`blocking: false`), and one
 *   of its tests wants to be refused without a credential;
 * - they listen for pushes at a port that they make up. The agent's allowlist names this front, which passes them on.
 */
const AGENT = '/@home/tck';
const WEBHOOK = /http:\/\/(localhost|127\.0\.0\.1):(\d{2,5})\//g;
/** Of 0.3, without a configuration of its own. */
const WAITING = /("method"\s*:\s*"message\/send"[\s\S]*"params"\s*:\s*\{)(?=\s*")(?![\s\S]*"configuration")/;
const ANONYMOUS = 'agent/getAuthenticatedExtendedCard';
const MESSAGE_ID = /("messageId"\s*:\s*"[^"]*)"/g;

let counter = 0;

export function startFront({ port, target, key }) {
  const self = `http://127.0.0.1:${port}`;
  const ours = [port, Number(new URL(target).port)];
  const inward = (text) =>
    text
      .replace(WAITING, '$1"configuration":{"blocking":false},')
      .replaceAll(MESSAGE_ID, (_all, id) => `${id}~${++counter}"`)
      .replaceAll(WEBHOOK, (all, host, at) =>
        ours.includes(Number(at)) ? all : `${self}/relay/${host}/${at}/`,
      );
  const relayed = new RegExp(`${self}/relay/([^/]+)/(\\d+)/`, 'g');
  const outward = (text) => text.replaceAll(/~\d+"/g, '"').replaceAll(relayed, 'http://$1:$2/');

  const server = createServer(async (request, reply) => {
    const body = await read(request);
    const { to, headers, isRelay } = routed(request, { target, key });
    if (body.includes(ANONYMOUS)) delete headers.authorization;
    const bytes = Buffer.from(isRelay ? outward(body.toString()) : inward(body.toString()));
    if (bytes.length > 0) headers['content-length'] = String(bytes.length);
    const upstream = send(to, { method: request.method, headers }, (answer) => pass(answer, reply, outward));
    upstream.on('error', () => reply.writeHead(502).end());
    reply.on('close', () => upstream.destroy());
    upstream.end(bytes);
  });
  return new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve(server)));
}

function routed({ url = '/', headers }, { target, key }) {
  const relay = /^\/relay\/([^/]+)\/(\d+)(\/.*)$/.exec(url);
  const { 'content-length': _length, 'transfer-encoding': _encoding, ...kept } = headers;
  if (relay)
    return { to: new URL(`http://${relay[1]}:${relay[2]}${relay[3]}`), headers: kept, isRelay: true };
  const isFirst = url.startsWith('/v1/');
  const path = isFirst ? url.slice(3) : url;
  kept.authorization ??= `Bearer ${key}`;
  if (isFirst) kept['a2a-version'] ??= '1.0';
  return { to: new URL(path.startsWith('/@') ? path : AGENT + path, target), headers: kept, isRelay: false };
}

async function pass(answer, reply, outward) {
  const { 'content-length': length, ...headers } = answer.headers;
  if (/event-stream/.test(headers['content-type'] ?? '')) {
    reply.writeHead(answer.statusCode, headers);
    // The server writes whole events.
    answer.setEncoding('utf8').on('data', (text) => reply.write(outward(text)));
    answer.on('close', () => reply.end());
    return;
  }
  const bytes = Buffer.from(outward((await read(answer)).toString()));
  if (length !== undefined) headers['content-length'] = String(bytes.length);
  reply.writeHead(answer.statusCode, headers).end(bytes);
}

async function read(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}
