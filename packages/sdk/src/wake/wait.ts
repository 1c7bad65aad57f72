import { endOf } from '../clock.ts';
import { LanternError } from '../faults.ts';
import { isPassing } from '../patience.ts';
import { type Answer, type Assumed, toAnswer, type Unanswered } from './answer.ts';
import { checkOnce } from './check.ts';
import type { CallOptions, Parts } from './parts.ts';

/** How long it is waited. */
export interface WaitOptions extends CallOptions {
  /** How long to wait from now. Otherwise until the delivery's own timeout, or an hour: never for ever. */
  readonly timeoutMs?: number | undefined;
  /** Pause between looks at a server that does not hold requests. */
  readonly pollMs?: number | undefined;
}

/** The only way to go on without an answer: say what you assume, and it is written down first (W23). */
export interface ProceedOnTimeout {
  readonly onTimeout: { readonly assumption: string };
}

const DEFAULT_WAIT_MS = 3_600_000;
const DEFAULT_POLL_MS = 60_000;
const LONGEST_HOLD_SECONDS = 60;

export async function waitFor(
  parts: Parts,
  deliveryId: string,
  options: WaitOptions & Partial<ProceedOnTimeout>,
): Promise<Answer | Assumed | Unanswered> {
  const assumption = assumptionOf(options);
  const deadlineMs = await deadlineOf(parts, deliveryId, options);
  let failures = 0;
  for (let looks = 0; ; looks += 1) {
    // A wrong address is reported at once: until the server has answered, nothing is waited for and nothing retried.
    const isTrial = looks === 0 && !parts.http.hasAnswered;
    const isLast = parts.clock.now() >= deadlineMs;
    const look = await lookOnce(parts, deliveryId, { options, deadlineMs, isTrial });
    if (look.answer !== null) return look.answer;
    const isOver = parts.clock.now() >= deadlineMs;
    if (isOver && look.trouble === null) return conclude(parts, deliveryId, assumption);
    // Unreachable is not "no answer": a person may have said no meanwhile. A look that began in time and broke off
    // afterwards, as on a laptop that slept, is repeated once.
    if (isOver && isLast) throw look.trouble;
    failures = look.trouble === null ? 0 : failures + 1;
    if (!look.wasHeld && !isTrial) await pause(parts, options, { deadlineMs, failures });
  }
}

function assumptionOf({ onTimeout }: Partial<ProceedOnTimeout>): string | undefined {
  const assumption = onTimeout?.assumption;
  if (assumption?.trim() === '') {
    throw new LanternError('wrong_usage', 'An assumption must say what the agent assumes: it is empty.');
  }
  return assumption;
}

interface Look {
  readonly answer: Answer | null;
  readonly trouble: unknown;
  /** The server held the request for at least half of the time it was asked to: the next look needs no pause. */
  readonly wasHeld: boolean;
}

async function lookOnce(
  parts: Parts,
  deliveryId: string,
  at: { options: CallOptions; deadlineMs: number; isTrial: boolean },
): Promise<Look> {
  const startedMs = parts.clock.now();
  const leftSeconds = Math.floor((at.deadlineMs - startedMs) / 1_000);
  const holdSeconds = at.isTrial ? 0 : Math.max(0, Math.min(leftSeconds, LONGEST_HOLD_SECONDS));
  try {
    const call = { signal: at.options.signal, holdSeconds, untilMs: at.deadlineMs };
    const checked = toAnswer(await checkOnce(parts, deliveryId, call));
    const wasHeld = holdSeconds > 0 && parts.clock.now() - startedMs >= (holdSeconds * 1_000) / 2;
    return { answer: checked.status === 'pending' ? null : checked, trouble: null, wasHeld };
  } catch (trouble) {
    // A wait of hours survives a restart of the server.
    if (!isPassing(trouble) || at.isTrial) throw trouble;
    return { answer: null, trouble, wasHeld: false };
  }
}

async function deadlineOf(parts: Parts, deliveryId: string, options: WaitOptions): Promise<number> {
  if (options.timeoutMs !== undefined) return endOf(parts.clock, 'timeoutMs', options.timeoutMs);
  const known = await parts.journal.find(deliveryId);
  if (known === null || known.timeoutSeconds === null) return parts.clock.now() + DEFAULT_WAIT_MS;
  return known.deliveredAtMs + known.timeoutSeconds * 1_000;
}

async function pause(
  parts: Parts,
  { pollMs = DEFAULT_POLL_MS, signal }: WaitOptions,
  { deadlineMs, failures }: { deadlineMs: number; failures: number },
): Promise<void> {
  // A restart takes seconds; a waiting caller should not lose a minute over it.
  const wantedMs = failures === 0 ? pollMs : Math.min(1_000 * 2 ** (failures - 1), pollMs);
  const ms = Math.min(wantedMs, deadlineMs - parts.clock.now());
  await parts.clock.sleep(Math.max(ms, 0), signal);
}

async function conclude(
  parts: Parts,
  deliveryId: string,
  assumption: string | undefined,
): Promise<Assumed | Unanswered> {
  if (assumption === undefined) {
    await parts.journal.record('timed_out', { delivery_id: deliveryId });
    return { status: 'timed_out', mayProceed: false, deliveryId, assumption: null };
  }
  await parts.journal.record('assumption', { delivery_id: deliveryId, assumption });
  return { status: 'timed_out', mayProceed: true, deliveryId, assumption };
}
