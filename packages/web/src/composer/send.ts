import { type Answer, desk } from '../api/desk.ts';
import { asking, sessionQuery, settingsQuery } from '../api/questions.ts';
import { calmly, isRefused, isSilence, isUnknown, type Refused, unknownOutcome } from '../api/refused.ts';
import type { Decision, Detail, Row } from '../api/types.ts';
import { hasDecided } from '../frame/sat.ts';
import { list } from '../inbox/list-store.ts';
import { serverNow } from '../live/clock.ts';
import { takeDelivery } from '../live/news.ts';
import { clock } from '../words/time.ts';
import { foot } from './held.ts';
import { words } from './words.ts';

const UNDO_SECONDS = 10;
const LINGER_MS = 1500;

/**
 * Answers on their way to the server, sent ones whose words are still kept here in case of an undo, and those that are
 * being undone.
 */
const sending = new Map<string, Promise<boolean>>();
const given = new Map<string, symbol>();
const leaving = new Set<string>();

function show(row: Row): void {
  list.dispatch({ kind: 'rows', rows: [row] });
  asking.setQueryData<Detail>(['delivery', row.delivery_id], (old) =>
    old === undefined ? old : { ...old, ...row },
  );
}

const again = (id: string) => {
  for (const key of [['overview'], ['delivery', id], ['history']])
    void asking.invalidateQueries({ queryKey: key });
};

const undoSeconds = () => asking.getQueryData(settingsQuery.queryKey)?.undo_seconds ?? UNDO_SECONDS;

/**
 * Shows the answer as held at once; if the server refuses it, shows the delivery as before, with the reason. The
 * words are kept until the answer has been sent for good.
 */
export async function sendAnswer(
  before: Row,
  answer: Answer,
  onRefused = (error: unknown) => sayLost(error, before),
): Promise<boolean> {
  const id = before.delivery_id;
  if (sending.has(id)) return false;
  words.hold(id);
  showHeld(before, answer);
  const decided = decideSurely(id, answer);
  sending.set(
    id,
    decided.then(
      () => true,
      () => false,
    ),
  );
  try {
    const row = await decided;
    foot.confirm(id, row.effect_at);
    show(row);
    forgetLater(id);
    return true;
  } catch (error) {
    show(before);
    // Somebody else may have changed it since.
    if (!isUnknown(error)) void takeDelivery(id);
    foot.release(id);
    onRefused(error);
    words.keepAgain(id);
    return false;
  } finally {
    sending.delete(id);
    again(id);
  }
}

function showHeld(before: Row, { status }: Answer): void {
  const { delivery_id: id, headline } = before;
  const seconds = undoSeconds();
  const endsAt = serverNow() + seconds * 1000;
  const effect_at = new Date(endsAt).toISOString();
  if (seconds === 0) {
    show({ ...before, state: 'decided', status, effect_at });
    return;
  }
  show({ ...before, state: 'held', held_status: status, effect_at });
  foot.hold({ id, headline, verdict: status, endsAt });
}

/** When no reply comes, the server may have taken the answer all the same, so its state is asked for. */
async function decideSurely(id: string, answer: Answer): Promise<Row> {
  try {
    return await desk.decide(id, answer);
  } catch (error) {
    if (!isSilence(error)) throw error;
    const detail = await desk.delivery(id).catch(() => null);
    if (detail === null) throw unknownOutcome(UNKNOWN_OUTCOME);
    if (!isThisAnswer(detail.decision, answer)) throw error;
    return detail;
  }
}

const UNKNOWN_OUTCOME =
  'The server did not say whether it took your answer. Look again when it can be reached.';

const isMe = (person: string | undefined) =>
  person !== undefined && person === asking.getQueryData(sessionQuery.queryKey)?.person.person_id;

function isThisAnswer(decision: Decision | null, answer: Answer): boolean {
  return (
    decision !== null &&
    decision.state !== 'undone' &&
    decision.status === answer.status &&
    (decision.feedback ?? '') === (answer.feedback ?? '') &&
    isMe(decision.decided_by.person_id)
  );
}

/** Forgets the words once the answer is final, unless it was undone, or given again, in the meantime. */
function forgetLater(id: string): void {
  const mark = Symbol(id);
  const givenAt = Date.now();
  given.set(id, mark);
  setTimeout(
    () => {
      if (given.get(id) !== mark) return;
      given.delete(id);
      const shown = [list.row(id), asking.getQueryData<Detail>(['delivery', id])];
      if (shown.some((row) => row?.state === 'pending')) return;
      words.forget(id);
      hasDecided(givenAt);
      again(id);
    },
    undoSeconds() * 1000 + LINGER_MS,
  );
}

export async function undoAnswer(id: string): Promise<void> {
  // A second press is the same wish, and would be told that there is nothing left to take back.
  if (leaving.has(id)) return;
  leaving.add(id);
  await takeBack(id);
  leaving.delete(id);
}

async function takeBack(id: string): Promise<void> {
  const held = foot.get().held.find((one) => one.id === id);
  foot.leave(id, true);
  // The undo could overtake the answer, and would then find nothing to undo.
  if ((await sending.get(id)) === false) return;
  given.delete(id);
  try {
    show(await desk.undo(id));
    foot.release(id);
    void bringBack(id);
    const headline = list.row(id)?.headline ?? held?.headline;
    if (headline === undefined) foot.say('Taken back. It waits for you again.', { delivery: id });
    else sayWaits({ delivery_id: id, headline });
  } catch (error) {
    const gone = isRefused(error) && error.status === 409;
    if (gone) foot.release(id);
    else foot.leave(id, false);
    foot.say(gone ? 'It had already gone out, so it could not be taken back.' : calmly(error));
  } finally {
    again(id);
  }
}

export const sayWaits = ({ delivery_id: delivery, headline }: Pick<Row, 'delivery_id' | 'headline'>) =>
  foot.say(`Taken back. “${headline}” waits for you again.`, { delivery, headline });

/** Restores the words of an undone answer: those still here, or after a reload those that were sent. */
async function bringBack(id: string): Promise<void> {
  if (words.has(id)) return words.keepAgain(id);
  const detail = await desk.delivery(id).catch(() => null);
  const last = detail?.decisions.at(-1);
  if (last?.state !== 'undone' || words.has(id) || !isMe(last.decided_by.person_id)) return;
  words.write(id, {
    mode: last.status,
    feedback: last.feedback ?? '',
    edited: last.edited_content ?? undefined,
  });
}

/** Says who was first, and when, and that nothing the person wrote is lost. */
export function sayLost(error: unknown, row: Row): void {
  foot.say(lostWords(error, row), { delivery: row.delivery_id, headline: row.headline, stays: true });
}

function lostWords(error: unknown, row: Row): string {
  const name = `“${row.headline}”`;
  if (isUnknown(error)) return `${name}: ${error.message} Your words are kept.`;
  if (!isRefused(error) || error.status !== 409) return `${name} was not answered. ${calmly(error)}`;
  return `${name} was not answered. ${conflictWords(error)} Your words are kept.`;
}

export function conflictWords(error: Refused): string {
  const by = error.extra.decided_by as { person_id?: string; name?: string | null } | undefined;
  const at = typeof error.extra.decided_at === 'string' ? `, at ${clock(error.extra.decided_at)}` : '';
  switch (error.code) {
    case 'already_decided':
    case 'already_held': {
      if (isMe(by?.person_id)) return `You had decided it already${at}.`;
      return `${by?.name ?? 'Somebody else'} decided it first${at}.`;
    }
    case 'content_changed':
      return 'It changed after you opened it; look at it again.';
    case 'superseded':
      return 'The agent has sent a newer revision.';
    default:
      return error.message;
  }
}
