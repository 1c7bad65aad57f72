import { desk } from '../api/desk.ts';
import { asking } from '../api/questions.ts';
import { calmly } from '../api/refused.ts';
import type { Detail, Row } from '../api/types.ts';
import { foot } from '../composer/held.ts';
import { serverNow } from '../live/clock.ts';
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

/** Marks the delivery as read at once, and reverts that if the server could not be told. */
export async function acknowledge(row: Row): Promise<void> {
  if (row.read_at !== null) return;
  show({ ...row, read_at: new Date(serverNow()).toISOString() });
  try {
    show(await desk.read(row.delivery_id));
  } catch (error) {
    show(row);
    foot.say(`It could not be marked as read. ${calmly(error)}`);
  }
}

/** Snoozes until a time, or wakes with null. Returns the rows for which that failed. */
export async function snooze(rows: readonly Row[], until: string | null): Promise<Row[]> {
  const failed: { row: Row; error: unknown }[] = [];
  const one = async (row: Row) => {
    show({ ...row, snoozed_until: until, ...(until !== null && { section: 'snoozed' }) });
    try {
      show(await desk.snooze(row.delivery_id, until));
    } catch (error) {
      show(row);
      failed.push({ row, error });
    }
  };
  await Promise.all(rows.map(one));
  const done = rows.length - failed.length;
  if (until !== null && done > 0)
    foot.say(
      `${done === 1 ? 'Out' : `${capital(inWords(done))} are out`} of sight until ${moment(until, serverNow())}.`,
    );
  const [first] = failed;
  if (first !== undefined) {
    const { headline } = first.row;
    const why = `could not be snoozed. ${calmly(first.error)}`;
    if (failed.length === 1) foot.say(`“${headline}” ${why}`, { headline });
    else foot.say(`${capital(inWords(failed.length))} ${why}`);
  }
  return failed.map(({ row }) => row);
}
