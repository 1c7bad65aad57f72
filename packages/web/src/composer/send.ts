import { type Answer, desk } from '../api/desk.ts';
import { asking, settingsQuery } from '../api/questions.ts';
import { calmly, isRefused, type Refused } from '../api/refused.ts';
import type { Detail, Row } from '../api/types.ts';
import { hasDecided } from '../frame/sat.ts';
import { list } from '../inbox/list-store.ts';
import { clock } from '../words/time.ts';
import { foot } from './held.ts';
import { words } from './words.ts';

const UNDO_SECONDS = 10;

function show(row: Row): void {
  list.dispatch({ kind: 'row', row });
  asking.setQueryData<Detail>(['delivery', row.delivery_id], (old) =>
    old === undefined ? old : { ...old, ...row },
  );
}

const again = (id: string) => {
  for (const key of [['overview'], ['delivery', id], ['history']])
    void asking.invalidateQueries({ queryKey: key });
};

/** Shown as held at once; taken back, with the reason, when the server says otherwise. The words stay until it has gone out. */
export async function sendAnswer(before: Row, answer: Answer): Promise<boolean> {
  const id = before.delivery_id;
  const seconds = asking.getQueryData(settingsQuery.queryKey)?.undo_seconds ?? UNDO_SECONDS;
  const givenAt = Date.now();
  const endsAt = givenAt + seconds * 1000;
  words.hold(id);
  show({
    ...before,
    ...(seconds === 0
      ? { state: 'decided', status: answer.status }
      : { state: 'held', held_status: answer.status }),
    effect_at: new Date(endsAt).toISOString(),
  });
  if (seconds > 0) foot.hold({ id, headline: before.headline, verdict: answer.status, endsAt });
  try {
    show(await desk.decide(id, answer));
    setTimeout(() => forgetWhenGone(id, givenAt), seconds * 1000 + 1500);
    return true;
  } catch (error) {
    show(before);
    foot.release(id);
    foot.say(lostWords(error, before), id);
    return false;
  } finally {
    again(id);
  }
}

/** Only when nobody took it back meanwhile. */
function forgetWhenGone(id: string, givenAt: number): void {
  if (list.row(id)?.state === 'pending') return;
  words.forget(id);
  hasDecided(givenAt);
  again(id);
}

export async function undoAnswer(id: string): Promise<void> {
  const held = foot.get().held.find((one) => one.id === id);
  foot.release(id);
  try {
    show(await desk.undo(id));
    foot.say(`Taken back. “${list.row(id)?.headline ?? held?.headline ?? 'It'}” waits for you again.`);
  } catch (error) {
    const gone = isRefused(error) && error.status === 409;
    foot.say(gone ? 'It had already gone out, so it could not be taken back.' : calmly(error));
  } finally {
    again(id);
  }
}

/** Who was first, and when; and that nothing the person wrote is lost. */
export function lostWords(error: unknown, row: Row): string {
  const name = `“${row.headline}”`;
  if (!isRefused(error) || error.status !== 409) return `${name} was not answered. ${calmly(error)}`;
  return `${name} was not answered. ${conflictWords(error)} Your words are kept.`;
}

export function conflictWords(error: Refused): string {
  const by = error.extra.decided_by as { name?: string | null } | undefined;
  const at = error.extra.decided_at;
  switch (error.code) {
    case 'already_decided':
    case 'already_held': {
      const who = by?.name ?? 'Somebody else';
      return `${who} decided it first${typeof at === 'string' ? `, at ${clock(at)}` : ''}.`;
    }
    case 'content_changed':
      return 'It changed after you opened it; look at it again.';
    case 'withdrawn':
      return 'The agent has withdrawn it.';
    case 'superseded':
      return 'The agent has sent a newer revision.';
    default:
      return error.message;
  }
}
