import type { Kysely } from 'kysely';
import type { SealedRows } from '../../core/resealing.ts';
import type { Sealer } from '../rows/agents/agents.ts';
import { type Session, Statement } from '../statement.ts';
import { type Named, SEALED, type SealedColumn } from './sealed-columns.ts';

/** Any table: which one is only known when a statement is made. */
type AnyTables = Record<string, Record<string, unknown>>;
type Values = Record<string, unknown>;
type Row = Record<string, unknown>;
type Part = { column: SealedColumn; page: Statement<Values, Row>; replace: Statement<Values, unknown> };

const anyTables = (db: unknown) => db as Kysely<AnyTables>;

/** The rows after a place, in the order of their key. */
function pageOf({ table, column, key, also = [], ofTask }: SealedColumn): Statement<Values, Row> {
  const names = Object.keys(key);
  return new Statement<Values, Row>((db, p) => {
    const wanted = [...new Set([...names, ...also, column])].map((name) => `${table}.${name}`);
    let query = anyTables(db)
      .selectFrom(table as string)
      .select(wanted)
      .where(`${table}.space_id`, '=', p.space)
      .where((eb) =>
        eb(
          eb.refTuple(...(names.map((name) => `${table}.${name}`) as [string, string])),
          '>',
          eb.tuple(...(names.map((name) => p[`after_${name}`]) as [unknown, unknown])) as never,
        ),
      );
    if (ofTask) {
      query = query
        .innerJoin('tasks', (on) =>
          on.onRef('tasks.space_id', '=', `${table}.space_id`).onRef('tasks.seq', '=', `${table}.task_seq`),
        )
        .select('tasks.task_id') as never;
    }
    for (const name of names) query = query.orderBy(`${table}.${name}`);
    return query.limit(p.limit as number);
  });
}

/** Only if it is still as it was read: somebody may have written a newer one meanwhile. */
function replaceOf({ table, column, key }: SealedColumn): Statement<Values, unknown> {
  return new Statement<Values, unknown>((db, p) => {
    let query = anyTables(db)
      .updateTable(table as string)
      .set({ [column]: p.sealed })
      .where('space_id', '=', p.space)
      .where(column, '=', p.before);
    for (const name of Object.keys(key)) query = query.where(name, '=', p[name]);
    return query;
  });
}

const PARTS: readonly Part[] = SEALED.map((column) => ({
  column,
  page: pageOf(column),
  replace: replaceOf(column),
}));

const FIRST = { text: '', number: -1 } as const;

/** Where a walk stands: the part, and the key of the last row seen. */
type Place = { part: number; after: Row | null };

export function sealedRows(session: Session, space: string, sealer: Sealer): SealedRows {
  return {
    reseal: async (mark, limit) => {
      const { part, after } = (mark as Place | null) ?? { part: 0, after: null };
      const now = PARTS[part];
      if (now === undefined) return { mark: null, changed: 0, damaged: [] };
      const from = Object.entries(now.column.key).map(([name, kind]) => [
        `after_${name}`,
        after?.[name] ?? FIRST[kind],
      ]);
      const rows = await session.all(now.page, { space, limit, ...Object.fromEntries(from) });
      const done = { changed: 0, damaged: [] as string[] };
      for (const row of rows) await resealRow(session, space, sealer, { part: now, row, done });
      const isOver = rows.length < limit;
      return {
        mark: isOver ? { part: part + 1, after: null } : { part, after: rows.at(-1) ?? null },
        ...done,
      };
    },
  };
}

type Work = { part: Part; row: Row; done: { changed: number; damaged: string[] } };

async function resealRow(session: Session, space: string, sealer: Sealer, work: Work): Promise<void> {
  const { part, row, done } = work;
  const { column, replace } = part;
  const before = row[column.column];
  // An event whose body lies in a segment has none of its own.
  if (!(before instanceof Uint8Array) || before.length === 0 || sealer.isCurrent(before)) return;
  const identity = column.identity(space, row as Named);
  let plain: Uint8Array;
  try {
    plain = sealer.open(before, identity);
  } catch {
    done.damaged.push(identity);
    return;
  }
  const key = Object.fromEntries(Object.keys(column.key).map((name) => [name, row[name]]));
  const sealed = sealer.seal(plain, identity);
  done.changed += await session.run(replace, { space, before, sealed, ...key });
}
