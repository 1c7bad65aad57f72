import { desk } from '../api/desk.ts';
import { asking } from '../api/questions.ts';
import { calmly } from '../api/refused.ts';
import type { Detail, Row } from '../api/types.ts';
import { foot } from '../composer/held.ts';
import { serverNow } from '../live/clock.ts';
import { moment } from '../words/time.ts';
import { list } from './list-store.ts';

function show(row: Row): void {
  list.dispatch({ kind: 'row', row });
  asking.setQueryData<Detail>(['delivery', row.delivery_id], (old) =>
    old === undefined ? old : { ...old, ...row },
  );
  void asking.invalidateQueries({ queryKey: ['overview'] });
}

/** Marks as read at once, and takes it back when that did not reach the server. */
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

export async function snooze(row: Row, until: string | null): Promise<void> {
  show({ ...row, snoozed_until: until });
  try {
    show(await desk.snooze(row.delivery_id, until));
    if (until !== null) foot.say(`Out of sight until ${moment(until, serverNow())}.`);
  } catch (error) {
    show(row);
    foot.say(`It could not be snoozed. ${calmly(error)}`);
  }
}
