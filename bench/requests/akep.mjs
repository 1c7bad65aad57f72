import { createHmac } from 'node:crypto';
import { request } from 'undici';
import { KEY, startLanternroom, temporaryFolder } from '../servers.mjs';
import { events } from './signed.mjs';

export const SECRET = 'dev-secret';
export const KEY_ID = 'pk_from_environment';
/** A producer without a limit: the bench measures the path of an event. */
export const AKEP_ENV = { AKEP_WEBHOOK_SECRET: SECRET, LANTERNROOM_RATE_PRODUCER: '0' };
export const AS_AGENT = { authorization: `Bearer ${KEY}` };

/** A fresh server whose agent takes everything from the producer of the environment. */
export async function startAkep(folder = temporaryFolder(), options = {}) {
  return { folder, ...(await startLanternroom(folder, { ...options, env: AKEP_ENV })) };
}

/** A load of signed events, all different. */
export function ingestJob(times, over = {}) {
  return {
    method: 'POST',
    path: '/akep/events',
    bodies: events(256).map((event) => JSON.stringify(event)),
    signed: { secret: SECRET, keyId: KEY_ID },
    expect: 202,
    connections: 64,
    ...times,
    ...over,
  };
}

let sent = 0;

/** One event more, signed. */
export function signedEvent(over = {}) {
  const [event] = events(1);
  const id = over.event_id ?? `evt_single_${process.pid}_${++sent}_padding`;
  const body = JSON.stringify({ ...event, ...over, event_id: id });
  const seconds = Math.floor(Date.now() / 1000);
  const mac = createHmac('sha256', SECRET).update(`${id}.${seconds}.${body}`).digest('base64');
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,${mac}`,
    'webhook-signature-key-id': KEY_ID,
  };
  return { method: 'POST', path: '/akep/events', headers, body };
}

/** For what is not timed. */
export async function sendEvent({ port }, over = {}) {
  const { method, path, headers, body } = signedEvent(over);
  const { statusCode, body: answer } = await request(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
  const text = await answer.text();
  if (statusCode !== 202) throw new Error(`the event was refused: ${statusCode} ${text}`);
}

export const waitFor = (cursor) => ({
  method: 'GET',
  path: `/akep/events/wait?cursor=${cursor}&timeout_seconds=30`,
  headers: AS_AGENT,
});

export async function getJson({ port }, path) {
  const { statusCode, body } = await request(`http://127.0.0.1:${port}${path}`, { headers: AS_AGENT });
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`${path} was not shown: ${statusCode} ${text}`);
  return JSON.parse(text);
}

/** The cursor after everything: a request that waits at an earlier one is answered at once. */
export async function endOf(server) {
  let page = await getJson(server, '/akep/events?limit=1000');
  while (page.has_more) page = await getJson(server, `/akep/events?limit=1000&cursor=${page.next_cursor}`);
  return page.next_cursor;
}
