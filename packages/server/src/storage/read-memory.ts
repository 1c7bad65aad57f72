import type { Statement } from './statement.ts';

type Known = { params: Record<string, unknown>; rows: Promise<unknown[]> };
type AnyStatement = Statement<never, unknown>;

/**
 * What was read in a transaction, for as long as it stays true. An inserted row invalidates the reads that could have
 * found it; any other change invalidates all reads of its tables.
 */
export class ReadMemory {
  readonly #known = new Map<AnyStatement, Map<string, Known>>();

  get<P extends object, R>(statement: Statement<P, R>, params: P): Promise<R[]> | undefined {
    const known = this.#known.get(statement as unknown as AnyStatement)?.get(JSON.stringify(params));
    return known?.rows as Promise<R[]> | undefined;
  }

  put<P extends object, R>(statement: Statement<P, R>, params: P, rows: Promise<R[]>): void {
    const key = statement as unknown as AnyStatement;
    const known = this.#known.get(key) ?? new Map<string, Known>();
    known.set(JSON.stringify(params), { params: params as Record<string, unknown>, rows });
    this.#known.set(key, known);
  }

  inserted(table: string, row: Record<string, unknown>): void {
    for (const [{ reach }, known] of this.#known) {
      if (!reach.tables.has(table)) continue;
      for (const [key, { params }] of known) {
        if (reach.fixed.every(([column, name]) => row[column] === params[name])) known.delete(key);
      }
    }
  }

  changed(tables: ReadonlySet<string>): void {
    for (const statement of this.#known.keys()) {
      for (const table of tables) if (statement.reach.tables.has(table)) this.#known.delete(statement);
    }
  }
}
