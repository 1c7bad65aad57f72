import { judgePushTarget, type PushRule } from '../../core/agents/allowlist.ts';
import type { JsonObject } from '../../core/canonical.ts';
import { exactText } from '../../core/exact-json.ts';
import type { Room } from '../../core/room.ts';
import type { Job } from '../../core/sending/job.ts';
import type { Request } from '../../core/store.ts';
import { mayStillHear } from '../../core/tasks/callers/callers.ts';
import { openEntry } from '../../core/tasks/log/log.ts';
import { readLog } from '../../core/tasks/log/log-memory.ts';
import { mayTell, type Neighbour, tellNeighbour } from '../../core/tasks/push/neighbour.ts';
import { openPush, type PushConfig, type PushErrand } from '../../core/tasks/push/push.ts';
import { pushListsOf } from '../../core/tasks/push/push-targets.ts';
import { viewOf } from '../../core/tasks/reading/read.ts';
import type { LogEntry, TaskRecord, TaskView } from '../../core/tasks/task.ts';
import type { Prepared } from './prepared.ts';

/** What the way out must be told about pushes: it knows no protocol. */
export interface PushParts {
  /** The body in the dialect that asked for it (A4), and its media type. */
  render(told: {
    push: PushConfig;
    task: TaskRecord;
    handle: string;
    entry: LogEntry;
    view: TaskView;
  }): Promise<{ type: string; body: JsonObject }>;
  /** The agent of ours that an address names. */
  neighbour(url: string): Promise<Neighbour | null>;
  /** A JWT over the body, for whoever wants to know that it is from us. */
  sign(body: string, about: { audience: string; id: string }): Promise<string>;
  /** The server itself is bound to this machine. */
  mayBeLoopback: boolean;
}

type Facts = {
  push: PushConfig;
  task: TaskRecord;
  handle: string;
  entry: LogEntry;
  view: TaskView;
  lists: Omit<PushRule, 'mayBeLoopback'>;
};

const GONE: Prepared = { kind: 'over', outcome: 'unsubscribed' };
const NOT_FOR_THEM: Prepared = { kind: 'over', outcome: 'caller_not_allowed' };

/** News of a task for its caller (A18). Who may hear it, and where, is asked again at the moment of sending. */
export async function preparePush(parts: PushParts, room: Room, job: Job, asked: Request): Promise<Prepared> {
  const facts = await readFacts(room, job, JSON.parse(asked.body) as PushErrand);
  if (facts === null) return GONE;
  if (!(await mayStillHear(room, facts.task))) return NOT_FOR_THEM;
  const neighbour = await parts.neighbour(facts.push.url);
  if (neighbour !== null) return tell(parts, room, facts, neighbour);
  const { type, body } = await parts.render(facts);
  const { mayBeLoopback } = parts;
  const verdict = judgePushTarget(facts.push.url, { ...facts.lists, mayBeLoopback });
  if (!verdict.allowed) return { kind: 'refused', outcome: 'target_not_allowed' };
  const text = exactText(body);
  const jwt = await parts.sign(text, { audience: new URL(verdict.url).origin, id: job.id });
  const headers = { 'content-type': type, ...credentials(facts.push, jwt) };
  const request = { url: verdict.url, method: 'POST' as const, headers, body: text };
  return { kind: 'http', request: { ...request, allowLoopback: mayBeLoopback } };
}

async function tell(parts: PushParts, room: Room, facts: Facts, to: Neighbour): Promise<Prepared> {
  const { push, task, entry, handle } = facts;
  if (!(await mayTell(room, task, to, push))) return { kind: 'over', outcome: 'target_not_allowed' };
  const { body } = await parts.render(task.logBytes > EVENT_BYTES ? withStatusAlone(facts) : facts);
  await tellNeighbour(room, to, { handle, task, entry, pushId: push.id, body });
  return { kind: 'placed' };
}

/** As much as an event may have: each word about a long task must not copy all of it into an inbox (A24). */
const EVENT_BYTES = 1024 * 1024;

function withStatusAlone(facts: Facts): Facts {
  const { id, contextId, status } = facts.view;
  return { ...facts, view: { id, contextId, status } };
}

/** Credentials go where the caller wants them, both kinds when both are set; our own signature takes what is left. */
function credentials({ token, authentication }: PushConfig, jwt: string): Record<string, string> {
  const named = token === undefined ? {} : { 'x-a2a-notification-token': token };
  const own = { 'x-a2a-notification-jwt': jwt };
  if (authentication === undefined) return { ...named, authorization: `Bearer ${jwt}` };
  const { scheme, credentials: secret } = authentication;
  // The seed names a scheme and no credentials: its token is meant.
  const value = secret ?? (scheme.toLowerCase() === 'bearer' ? token : undefined);
  if (value === undefined) return { ...named, authorization: `Bearer ${jwt}` };
  const word = scheme.toLowerCase() === 'bearer' ? 'Bearer' : scheme;
  return { ...named, ...own, authorization: `${word} ${value}` };
}

function readFacts(room: Room, job: Job, errand: PushErrand): Promise<Facts | null> {
  return room.store.read(job.space, async (tx) => {
    const stored = await tx.pushes.get(errand.task, errand.push);
    const task = await tx.tasks.bySeq(errand.task);
    const entry = await tx.tasks.entry(errand.task, errand.pos);
    // A configuration that was deleted and set again has jobs of its own.
    if (stored?.job !== job.id || task === null || entry === null) return null;
    const log = await readLog(room, tx, task);
    return {
      push: openPush(room, task, stored),
      task,
      handle: (await tx.spaces.get())?.handle ?? 'home',
      entry: openEntry(room, task, entry),
      view: viewOf(
        task,
        log.filter(({ pos }) => pos <= errand.pos),
      ),
      lists: await pushListsOf(tx, task.agent),
    };
  });
}
