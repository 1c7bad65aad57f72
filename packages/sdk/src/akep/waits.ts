import { endOf } from '../clock.ts';
import { faultOf } from '../faults.ts';
import { isRecord } from '../json.ts';
import { patiently } from '../patience.ts';
import { getEvent, odd } from './entries.ts';
import { makeOnce } from './make-once.ts';
import { readResumes, unhurried } from './pages.ts';
import type { InboxCall, InboxParts } from './parts.ts';
import type { AkepEvent, Resume, Wait, WaitBody } from './wire.ts';

/** How long it is waited. */
export interface WaitForOptions extends InboxCall {
  /** An hour, unless told otherwise: never for ever. */
  readonly timeoutMs?: number | undefined;
}

/** `event` is null when it is no longer kept, or when two producers used its id. */
export type Awaited =
  | {
      readonly status: 'resumed';
      readonly waitId: string;
      readonly resume: Resume;
      readonly event: AkepEvent | null;
    }
  | { readonly status: 'timed_out'; readonly waitId: string };

const DEFAULT_WAIT_MS = 3_600_000;
const WAIT_SECONDS = 50;
const PAGE = 1_000;
const ABANDON_MS = 5_000;

export async function openWait(parts: InboxParts, body: WaitBody, call: InboxCall): Promise<Wait> {
  const wait = await openOnce(parts, body, call);
  await parts.record('wait_opened', { wait_id: wait.wait_id, run_state_ref: body.run_state_ref });
  return wait;
}

/** A second wait beside one whose reply got lost would resume the run twice. */
function openOnce(parts: InboxParts, body: WaitBody, call: InboxCall): Promise<Wait> {
  const make = async () => {
    const wish = { method: 'POST', path: '/akep/waits', body, once: true } as const;
    const wait = await parts.http.send(wish, call.signal);
    if (isWait(wait)) return wait;
    throw odd('a wait');
  };
  const find = async () => (await listWaits(parts, call)).find((one) => isSameWait(one, body));
  return makeOnce(parts, call, { make, find });
}

function isSameWait(one: Wait, other: WaitBody): boolean {
  return JSON.stringify(factsOf(one)) === JSON.stringify(factsOf(other));
}

function factsOf({ run_state_ref, interrupt_id, event_types, policy, ...more }: WaitBody): unknown[] {
  const subject = Object.entries(more.subject ?? {}).sort(([one], [other]) => (one < other ? -1 : 1));
  const until = more.expires_at == null ? null : Date.parse(more.expires_at);
  return [run_state_ref, interrupt_id ?? null, event_types ?? null, policy ?? null, subject, until];
}

export async function listWaits(parts: InboxParts, call: InboxCall): Promise<Wait[]> {
  const body = await parts.http.send({ method: 'GET', path: '/akep/waits' }, call.signal);
  const list = isRecord(body) ? body.waits : null;
  if (Array.isArray(list) && list.every(isWait)) return list;
  throw odd('a list of waits');
}

export async function endWait(parts: InboxParts, waitId: string, call: InboxCall): Promise<void> {
  const path = `/akep/waits/${encodeURIComponent(waitId)}`;
  await parts.http.send({ method: 'DELETE', path }, call.signal);
  await parts.record('wait_ended', { wait_id: waitId });
}

export async function waitFor(parts: InboxParts, body: WaitBody, options: WaitForOptions): Promise<Awaited> {
  const deadlineMs = endOf(parts.clock, 'timeoutMs', options.timeoutMs ?? DEFAULT_WAIT_MS);
  // If this process dies, the wait must not catch an event that nobody waits for any more.
  const expires_at = new Date(deadlineMs).toISOString();
  const { wait_id: waitId } = await openWait(parts, { expires_at, ...body }, options);
  const find = createFinder(parts, waitId, options);
  const resume = await lookUntil(parts, deadlineMs, find).catch((error: unknown) => {
    abandon(parts, waitId);
    throw error;
  });
  if (resume !== null) return resumed(parts, waitId, resume);
  await endWait(parts, waitId, options).catch((error: unknown) => {
    if (faultOf(error) !== 'not_found') throw error;
  });
  // It may have been resumed between the last look and its end.
  const late = await find(0);
  return late === null ? { status: 'timed_out', waitId } : resumed(parts, waitId, late);
}

type Finder = (waitSeconds: number) => Promise<Resume | null>;

async function lookUntil({ clock }: InboxParts, deadlineMs: number, find: Finder): Promise<Resume | null> {
  for (let leftMs = 0; ; ) {
    const resume = await find(Math.min(WAIT_SECONDS, Math.ceil(leftMs / 1_000)));
    if (resume !== null) return resume;
    leftMs = deadlineMs - clock.now();
    if (leftMs <= 0) return null;
  }
}

/** Giving up does not wait for this request. If it does not get through, the wait ends when it expires. */
function abandon(parts: InboxParts, waitId: string): void {
  endWait(parts, waitId, { signal: AbortSignal.timeout(ABANDON_MS) }).catch(() => {});
}

/** Looks through the resumes, each time from where the last look ended. */
function createFinder(parts: InboxParts, waitId: string, call: InboxCall): Finder {
  let cursor: string | null = null;
  return async (waitSeconds) => {
    for (;;) {
      const wish = { cursor, limit: PAGE, waitSeconds, signal: call.signal };
      const page = await patiently(parts, call, () => unhurried(parts, wish, readResumes));
      if (page === null) return null;
      cursor = page.nextCursor;
      const found = page.items.find((resume) => resume.wait_id === waitId);
      if (found !== undefined || !page.hasMore) return found ?? null;
    }
  };
}

async function resumed(parts: InboxParts, waitId: string, resume: Resume): Promise<Awaited> {
  await parts.record('resume', { ...resume, handled: true });
  const view = await getEvent(parts, resume.event_id, {}).catch((error: unknown) => {
    const fault = faultOf(error);
    if (fault !== 'not_found' && fault !== 'conflict') throw error;
    return null;
  });
  return { status: 'resumed', waitId, resume, event: view?.event ?? null };
}

function isWait(value: unknown): value is Wait {
  return isRecord(value) && typeof value.wait_id === 'string';
}
