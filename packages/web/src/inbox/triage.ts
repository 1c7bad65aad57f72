import { desk } from '../api/desk.ts';
import { asking } from '../api/questions.ts';
import { calmly, isSilence } from '../api/refused.ts';
import type { Detail, Row } from '../api/types.ts';
import { foot } from '../composer/held.ts';
import { sayWaits } from '../composer/send.ts';
import { serverNow } from '../live/clock.ts';
import { takeDelivery } from '../live/news.ts';
import { isAsleep } from '../words/delivery.ts';
import { capital, inWords } from '../words/numbers.ts';
import { moment } from '../words/time.ts';
import { list } from './list-store.ts';

function show(row: Row): void {
  list.dispatch({ kind: 'rows', rows: [row] });
  asking.setQueryData<Detail>(['delivery', row.delivery_id], (old) =>
    old === undefined ? old : { ...old, ...row },
  );
  void asking.invalidateQueries({ queryKey: ['overview'] });
}

/** Shows it as it was before it was touched here, until it is known what somebody else has made of it since. */
function showAgain(before: Row, error: unknown): void {
  show(before);
  if (!isSilence(error)) void takeDelivery(before.delivery_id);
}

/** Marks the delivery as read at once, and reverts that if the server could not be told. */
export async function acknowledge(row: Row): Promise<void> {
  if (row.read_at !== null) return;
  show({ ...row, read_at: new Date(serverNow()).toISOString() });
  try {
    show(await desk.read(row.delivery_id));
  } catch (error) {
    showAgain(row, error);
    foot.say(`It could not be marked as read. ${calmly(error)}`);
  }
}

/** Snoozes until a time, or wakes with null. Returns the rows for which that failed. */
export async function snooze(rows: readonly Row[], until: string | null): Promise<Row[]> {
  const section = until === null ? {} : { section: 'snoozed' as const };
  const failed = await each(rows, (row) => change({ ...row, snoozed_until: until, ...section }, row));
  const lost = new Set(failed.map(({ row }) => row));
  const done = rows.filter((row) => !lost.has(row));
  if (until !== null && done.length > 0) {
    const out = done.length === 1 ? 'Out' : `${capital(inWords(done.length))} are out`;
    foot.say(`${out} of sight until ${moment(until, serverNow())}.`, { undo: () => void takeBack(done) });
  }
  sayFailed(failed, 'could not be snoozed.');
  return [...lost];
}

/** Each is as it was before it was snoozed. */
async function takeBack(rows: readonly Row[]): Promise<void> {
  const asItWas = (row: Row) => (isAsleep(row, serverNow()) ? row : { ...row, snoozed_until: null });
  const failed = await each(rows, (row) => change(asItWas(row), list.row(row.delivery_id) ?? row));
  sayFailed(failed, 'could not be brought back.');
  const [one] = rows;
  if (failed.length > 0 || one === undefined) return;
  if (rows.length === 1) sayWaits(one);
  else foot.say(`Taken back. ${capital(inWords(rows.length))} wait for you again.`);
}

/** Shows it at once, and as it was before if the server refuses it. */
async function change(wanted: Row, before: Row): Promise<void> {
  show(wanted);
  try {
    show(await desk.snooze(wanted.delivery_id, wanted.snoozed_until));
  } catch (error) {
    showAgain(before, error);
    throw error;
  }
}

type Failed = { row: Row; error: unknown };

async function each(rows: readonly Row[], work: (row: Row) => Promise<void>): Promise<Failed[]> {
  const failed: Failed[] = [];
  const one = (row: Row) => work(row).catch((error: unknown) => void failed.push({ row, error }));
  await Promise.all(rows.map(one));
  return failed;
}

function sayFailed(failed: readonly Failed[], what: string): void {
  const [first] = failed;
  if (first === undefined) return;
  const { headline } = first.row;
  const why = `${what} ${calmly(first.error)}`;
  if (failed.length === 1) foot.say(`“${headline}” ${why}`, { headline });
  else foot.say(`${capital(inWords(failed.length))} ${why}`);
}
