import type { Message } from '../../a2a/wire.ts';
import { createInbox } from '../../akep/inbox.ts';
import { createProducer } from '../../akep/producer.ts';
import { signEvent } from '../../akep/signature.ts';
import { memoryLog } from '../../log/log.ts';
import { createWake } from '../../wake/client.ts';
import { signWebhook } from '../../wake/signature.ts';
import { manualClock } from '../clock.ts';
import { temporaryFolder } from '../hub.ts';
import { event, page, resume, resumePage } from '../inbox.ts';
import {
  answered,
  DRAFT,
  ID,
  received,
  responseBody,
  type Said,
  type Seen,
  startRoom,
  TEST_KEY,
} from '../room.ts';

export const SECRET = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';

/** Everything the examples name, against a real server that has one of each thing and then ends every loop. */
export async function openStage() {
  const room = await startRoom(says);
  const { url } = room;
  const parts = { url, apiKey: TEST_KEY, clock: manualClock(), log: memoryLog() };
  const wake = createWake({ ...parts, agentId: 'research-agent-01' });
  await wake.adopt(ID);
  const calls: unknown[][] = [];
  const note = (...args: unknown[]) => void calls.push(args);
  const identity = { producerId: 'prod_exporter', name: 'exporter', type: 'tool' } as const;
  return {
    ...parts,
    wake,
    inbox: createInbox(parts),
    producer: createProducer({ url, ...identity, secret: SECRET, clock: parts.clock }),
    draft: DRAFT,
    deliveryId: ID,
    secret: SECRET,
    signal: new AbortController().signal,
    calls,
    note,
    folder: temporaryFolder(),
    show: note,
    task: TASK,
    /** For `fetch(receiver, …)`: the same server. */
    receiver: `${url}/akep/events`,
    callback: async () => {
      const body = JSON.stringify(responseBody('approved'));
      const timestamp = Math.floor(Date.now() / 1_000);
      return { body, headers: { ...(await signWebhook({ secrets: [SECRET], id: ID, body, timestamp })) } };
    },
    arrival: async () => {
      const body = JSON.stringify(event('evt_0123456789'));
      const timestamp = Math.floor(Date.now() / 1_000);
      return { body, headers: await signEvent({ secret: SECRET, id: 'evt_0123456789', body, timestamp }) };
    },
  };
}

export type Stage = Awaited<ReturnType<typeof openStage>>;

const EVENT = { ...event('evt_0123456789'), event_type: 'human.approved' };
const SUBSCRIPTION = { subscription_id: 'sub_0123456789', event_types: ['tool.completed'] };
const TASK = {
  id: 'task-1',
  contextId: 'context-1',
  status: { state: 'TASK_STATE_COMPLETED' as const, message: agentSays('Done.') },
  artifacts: [],
};

function agentSays(text: string): Message {
  return { messageId: 'm1', role: 'ROLE_AGENT', parts: [{ text }] };
}

const WAIT = { wait_id: 'wait_1', run_state_ref: 'runs/42.json' };

function says(seen: Seen): Said {
  const { pathname, searchParams } = new URL(seen.url, 'http://room');
  // A loop that comes back for more is sent away, so that it ends.
  if (
    searchParams.has('since') ||
    /^\/akep\/(events|resumes)\/wait$/.test(pathname) ||
    pathname === '/a2a/connect'
  )
    return { status: 401 };
  if (seen.method === 'DELETE') return { status: 204 };
  if (pathname === '/akep/events' && seen.method === 'GET') return page([EVENT], 'c1');
  if (pathname === '/akep/events/stream') return searchParams.has('cursor') ? { status: 401 } : STREAM;
  if (pathname === '/akep/resumes')
    return searchParams.has('cursor') ? { status: 401 } : resumePage([resume('res_1')], 'c1');
  return (
    ANSWERS[`${seen.method} ${pathname.replace(ID, 'ID')}`] ?? { status: 404, body: { error: pathname } }
  );
}

const ok = (body: unknown): Said => ({ status: 200, body });
const STREAM: Said = {
  status: 200,
  headers: { 'content-type': 'text/event-stream' },
  body: `event: event\nid: c1\ndata: ${JSON.stringify(EVENT)}\n\n`,
};
const ACCEPTED: Said = { status: 202, body: { accepted: true, duplicate: false } };

const ANSWERS: Readonly<Record<string, Said>> = {
  'POST /wake/v1/deliver': received(),
  'GET /wake/v1/response/ID': answered('rejected', { withdrawn_at: '2026-03-08T12:10:00Z' }),
  'POST /wake/v1/withdraw/ID': ok({}),
  'GET /wake/v1/responses': ok({ deliveries: [responseBody('approved')], next_since: 's1', has_more: true }),
  'POST /akep/events': ACCEPTED,
  'POST /akep/emit': ACCEPTED,
  'POST /akep/events/evt_0123456789/ack': ok({}),
  'GET /akep/events/evt_0123456789': ok({ event: EVENT, cursor: 'c1', ack: null }),
  'GET /akep/events/evt_1': ok({ event: EVENT, cursor: 'c1', ack: null }),
  'GET /akep/tasks/task_42': ok({ task_id: 'task_42', status: 'completed' }),
  'GET /akep/subscriptions': ok({ subscriptions: [SUBSCRIPTION] }),
  'POST /akep/subscriptions': { status: 201, body: SUBSCRIPTION },
  'GET /akep/waits': ok({ waits: [WAIT] }),
  'POST /akep/waits': { status: 201, body: WAIT },
  'GET /akep/policy': ok({ max_resume_policy: 'resume_immediately', show_reviews: true }),
  'POST /@home/helper/': ok({ jsonrpc: '2.0', id: 1, result: { task: TASK } }),
  'PUT /akep/policy': ok({ max_resume_policy: 'resume_if_waiting', show_reviews: true }),
};

/** By the name of what each is the example of. */
export type Examples = Readonly<Record<string, (stage: Stage) => Promise<unknown>>>;
