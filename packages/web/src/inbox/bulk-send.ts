import { desk } from '../api/desk.ts';
import { calmly, isNotThere, isRefused } from '../api/refused.ts';
import type { Row, Verdict } from '../api/types.ts';
import { foot } from '../composer/held.ts';
import { sayLost, sendAnswer } from '../composer/send.ts';
import { capital, inWords } from '../words/numbers.ts';
import type { Included, LookedAt } from './bulk.ts';
import { list } from './list-store.ts';

/** If one was deleted in the meantime, the others can still be answered. */
export async function lookAt(row: Row): Promise<LookedAt> {
  try {
    return await desk.delivery(row.delivery_id);
  } catch (error) {
    if (isNotThere(error)) return { gone: row };
    throw error;
  }
}

const said = new Map<Verdict, string>();

/** The feedback to all of them, by verdict, until it is sent. It is kept when the sheet is closed or sending fails. */
export const saidToAll = {
  get: (verdict: Verdict) => said.get(verdict) ?? '',
  keep: (verdict: Verdict, feedback: string) => void said.set(verdict, feedback),
  clear: () => said.clear(),
};

type Failed = { row: Row; error: unknown };

/** Checks those again that could not be answered, so that the person can try again without searching for them. */
export async function sendTogether(
  included: readonly Included[],
  verdict: Verdict,
  feedback: string,
): Promise<void> {
  // At once: while these are on their way, the next ones may get words of their own.
  saidToAll.keep(verdict, '');
  const failed: Failed[] = [];
  list.dispatch({ kind: 'uncheck' });
  const send = ({ row, hash }: Included) =>
    sendAnswer(
      row,
      { status: verdict, content_sha256: hash, ...(feedback === '' ? {} : { feedback }) },
      (error) => void failed.push({ row, error }),
    );
  await Promise.all(included.map(send));
  if (failed.length > 0 && saidToAll.get(verdict) === '') saidToAll.keep(verdict, feedback);
  const open = failed.filter(({ error }) => !isOver(error));
  for (const { row, error } of failed) if (isOver(error)) sayLost(error, row);
  for (const { row } of open) checkAgain(row.delivery_id);
  const [first] = open;
  if (first === undefined) return;
  if (open.length === 1) sayLost(first.error, first.row);
  else
    foot.say(
      `${capital(inWords(open.length))} were not answered; they are still checked. ${calmly(first.error)}`,
    );
}

/** Decided elsewhere, changed or withdrawn: trying again would not help. */
const isOver = (error: unknown) => isRefused(error) && (error.status === 409 || error.status === 404);

/** Keeps what failed checked, so that the person can try again without searching for it. */
export function checkAgain(id: string): void {
  const { checked, rows } = list.get();
  if (!checked.has(id) && id in rows) list.dispatch({ kind: 'check', id });
}
