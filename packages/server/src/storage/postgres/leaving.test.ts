import { expect, onTestFinished, test } from 'vitest';
import { retireEvents } from '../../core/events/retention.ts';
import type { Room } from '../../core/room.ts';
import { DAY } from '../../core/time.ts';
import { freshDatabase, onDatabase } from '../../testing/postgres/postgres.ts';
import { anEntry, anEventRecord } from '../../testing/stores/event-things.ts';
import { until } from '../../testing/waiting.ts';
import { PostgresStore } from '../postgres.ts';
import { MasterVault } from '../vault.ts';

const vault = new MasterVault(Buffer.from('a master key for tests'));
const SPACE = 'sp_1';
const AGENTS = ['agent-1', 'agent-2'];

test('[R12][K17] an event leaves with its last entry, also when two replicas take the last two away at once', async () => {
  const { url, drop } = await freshDatabase();
  onTestFinished(drop);
  const open = async () => {
    const store = await PostgresStore.open({ url, sealer: vault, sealHead: vault.mac });
    onTestFinished(() => store.stop());
    return store;
  };
  const [one, two] = [await open(), await open()];
  await one.write(SPACE, [], async (tx) => {
    const event = anEventRecord();
    await tx.events.insert(event, Buffer.from('{}'));
    for (const agent of AGENTS) await tx.entries.insert(anEntry(event, { agent }));
  });
  // Both are in the middle of their transaction, or one waits for the other, before either continues.
  const held = onDatabase(url, `begin; lock table resumes; ${UNTIL_BOTH_WAIT}; commit`);
  await until(async () => (await onDatabase(url, RESUMES_ARE_HELD)).length === 1);
  const now = 100 * DAY;
  await Promise.all(
    [one, two].map((store, at) =>
      retireEvents({ store } as unknown as Room, { space: SPACE, agent: AGENTS[at] ?? '', now }),
    ),
  );
  await held;
  for (const table of ['entries', 'events', 'bodies'])
    expect([table, await onDatabase(url, `select space_id from ${table}`)]).toEqual([table, []]);
});

const RESUMES_ARE_HELD = `select 1 from pg_locks where mode = 'AccessExclusiveLock' and granted
  and relation = 'resumes'::regclass`;

const UNTIL_BOTH_WAIT = `do $$ begin
  while (select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock') < 2
  loop perform pg_sleep(0.01); perform pg_stat_clear_snapshot(); end loop; end $$`;
