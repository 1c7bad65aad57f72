import { createHash } from 'node:crypto';
import { type End, type Layout, layouts, type Row } from './end.ts';

export type Progress = (table: string, done: number, total: number) => void;
export type Moved = { tables: Record<string, number>; rows: number };

export type MoveParts = {
  from: End;
  to: End;
  progress: Progress;
  /** Follows the ledgers on the new side; throws when one of them is not whole. */
  verifyChains(): Promise<void>;
};

const READ = 500;
const WRITE = 100;

/** Heads that belong to a store and not to its data. */
const OWN = "seal <> '' and name not in ('identities', 'moved', 'news')";

/**
 * Copies everything, compares everything, then closes the old side and opens the new one, in this order: both are
 * never open at once. An interrupted move continues where it stopped; until the end, the old side is unchanged.
 */
export async function move({ from, to, progress, verifyChains }: MoveParts): Promise<Moved> {
  const tables = layouts();
  // Before the target is claimed: a move that is refused here leaves no trace there.
  await from.lock(tables);
  const resumed = await claimTarget(from, to);
  const counts: Record<string, number> = {};
  for (const table of tables) {
    counts[table.name] = await copy(from, to, table, progress);
    if ((await digest(from, table)) !== (await digest(to, table))) await copyAnew(from, to, table, progress);
  }
  await verifyChains();
  if (!resumed.isClosed) await closeSource(from, to.name, tables);
  await from.unlock();
  await to.run("delete from heads where space_id = '' and name = 'moved'");
  return { tables: counts, rows: Object.values(counts).reduce((sum, n) => sum + n, 0) };
}

async function mark(end: End): Promise<{ n: number; text: string } | null> {
  const [row] = await end.query("select n, text from heads where space_id = '' and name = 'moved'");
  return row === undefined ? null : { n: Number(row.n), text: String(row.text) };
}

/** An empty target is claimed; one that this very source has claimed is continued. */
async function claimTarget(from: End, to: End): Promise<{ isClosed: boolean }> {
  const [left, claimed] = [await mark(from), await mark(to)];
  if (claimed === null || claimed.n !== 0) {
    if (left !== null)
      throw new Error(`${from.name} was moved to ${left.text} before. There is nothing to move.`);
    const [used] = await to.query('select space_id from spaces limit 1');
    if (claimed !== null || used !== undefined)
      throw new Error(`${to.name} already holds data. Choose an empty one.`);
    const values = [from.name];
    await to.run(
      "insert into heads (space_id, name, n, at, text, seal) values ('', 'moved', 0, 0, ?, 'none')",
      values,
    );
    return { isClosed: false };
  }
  if (claimed.text !== from.name)
    throw new Error(
      `${to.name} is an unfinished copy of ${claimed.text}. Finish that, or choose an empty one.`,
    );
  return { isClosed: left !== null };
}

async function closeSource(from: End, target: string, tables: readonly Layout[]): Promise<void> {
  const values = [target];
  await from.run(
    "insert into heads (space_id, name, n, at, text, seal) values ('', 'moved', 1, 0, ?, 'none')",
    values,
  );
  await from.refuseChanges(tables, `this data was moved to ${target}`);
}

const only = ({ name }: Layout) => (name === 'heads' ? OWN : 'true');
const quoted = (names: readonly string[]) => names.map((name) => `"${name}"`).join(', ');
const marks = (count: number) => Array.from({ length: count }, () => '?').join(', ');

async function count(end: End, table: Layout): Promise<number> {
  const [row] = await end.query(`select count(*) as n from "${table.name}" where ${only(table)}`);
  return Number(row?.n);
}

/**
 * Continues after the last row that the target has. Rows without a key cannot be told apart, so they are copied all
 * together.
 */
async function copy(from: End, to: End, table: Layout, progress: Progress): Promise<number> {
  const total = await count(from, table);
  const there = await count(to, table);
  if (table.key.length === 0 && there > 0 && there !== total) await empty(to, table);
  let done = table.key.length === 0 && there !== total ? 0 : there;
  if (table.key.length === 0 && done === total) return total;
  let last = table.key.length === 0 ? null : await lastKey(to, table);
  for (let page = await pageAfter(from, table, last, done); page.length > 0; ) {
    await insert(to, table, page);
    done += page.length;
    progress(table.name, done, total);
    last = table.key.map((name) => page.at(-1)?.[name]);
    page = await pageAfter(from, table, last, done);
  }
  return total;
}

/** What was copied before has changed since: the source was used in between. */
async function copyAnew(from: End, to: End, table: Layout, progress: Progress): Promise<void> {
  await empty(to, table);
  await copy(from, to, table, progress);
  if ((await digest(from, table)) === (await digest(to, table))) return;
  throw new Error(
    `The copy of "${table.name}" is not the same as the original. ${from.name} was left as it is.`,
  );
}

async function empty(end: End, table: Layout): Promise<void> {
  await end.run(`delete from "${table.name}" where ${only(table)}`);
}

async function lastKey(end: End, table: Layout): Promise<unknown[] | null> {
  const order = table.key.map((name) => `"${name}" desc`).join(', ');
  const sql = `select ${quoted(table.key)} from "${table.name}" where ${only(table)} order by ${order} limit 1`;
  const [row] = await end.query(sql);
  return row === undefined ? null : table.key.map((name) => row[name]);
}

function pageAfter(end: End, table: Layout, last: unknown[] | null, done: number): Promise<Row[]> {
  const { name, columns, key } = table;
  const order = quoted(key.length > 0 ? key : columns);
  const behind = key.length > 0 && last !== null ? ` and (${quoted(key)}) > (${marks(key.length)})` : '';
  const skipped = key.length === 0 ? ` offset ${done}` : '';
  const sql = `select ${quoted(columns)} from "${name}" where ${only(table)}${behind} order by ${order} limit ${READ}${skipped}`;
  return end.query(sql, behind === '' ? [] : (last ?? []));
}

async function insert(end: End, { name, columns }: Layout, rows: readonly Row[]): Promise<void> {
  for (let at = 0; at < rows.length; at += WRITE) {
    const some = rows.slice(at, at + WRITE);
    const places = some.map(() => `(${marks(columns.length)})`).join(', ');
    const values = some.flatMap((row) => columns.map((column) => row[column]));
    await end.run(`insert into "${name}" (${quoted(columns)}) values ${places}`, values);
  }
}

/** Over every value of every row, in the order of the keys. */
async function digest(end: End, table: Layout): Promise<string> {
  const hash = createHash('sha256');
  let last: unknown[] | null = null;
  let done = 0;
  for (;;) {
    const page: Row[] = await pageAfter(end, table, last, done);
    if (page.length === 0) return hash.digest('hex');
    for (const row of page)
      hash.update(`${JSON.stringify(table.columns.map((name) => portable(row[name])))}\n`);
    done += page.length;
    last = table.key.map((name) => page.at(-1)?.[name]);
  }
}

function portable(value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;
}
