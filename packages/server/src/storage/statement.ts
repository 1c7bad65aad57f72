import {
  type CompiledQuery,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import { type Reach, reachOf } from './reach.ts';
import type { Tables } from './tables.ts';

/** The two dialects of SQL that a statement can be compiled to. */
export type Dialect = 'sqlite' | 'postgres';

/** What a statement runs on: one connection, inside or outside a transaction. */
export interface Session {
  all<P extends object, R>(statement: Statement<P, R>, params: P): Promise<R[]>;
  one<P extends object, R>(statement: Statement<P, R>, params: P): Promise<R | undefined>;
  /** Rows changed. */
  run<P extends object, R>(statement: Statement<P, R>, params: P): Promise<number>;
}

type Buildable<R> = { compile(): CompiledQuery<R> };
type Build<P, R> = (db: Kysely<Tables>, p: P) => Buildable<R>;

/** Stands for a value that is only known when the statement runs. */
class Placeholder {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

const builders: Record<Dialect, Kysely<Tables>> = {
  sqlite: new Kysely<Tables>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  }),
  postgres: new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  }),
};

export type Compiled = { sql: string; bind(params: object): unknown[] };

/**
 * A query that is written once with Kysely, checked against the tables by the compiler, and compiled once per
 * dialect: building it on every call would cost 17 µs instead of 4.
 */
export class Statement<P extends object, R> {
  readonly #build: Build<P, R>;
  readonly #compiled = new Map<Dialect, Compiled>();
  #reach: Reach | undefined;

  constructor(build: Build<P, R>) {
    this.#build = build;
    every.push(this);
  }

  /** Which rows it can touch, as far as its text shows. */
  get reach(): Reach {
    this.#reach ??= reachOf(this.#build(builders.postgres, placeholders<P>()).compile().query, parameterName);
    return this.#reach;
  }

  compile(dialect: Dialect): Compiled {
    let compiled = this.#compiled.get(dialect);
    if (compiled === undefined) {
      const { sql, parameters } = this.#build(builders[dialect], placeholders<P>()).compile();
      compiled = { sql, bind: binder(parameters) };
      this.#compiled.set(dialect, compiled);
    }
    return compiled;
  }
}

/** Every statement there is, for the tests that hold them to their rules. */
export const every: { compile(dialect: Dialect): Compiled; readonly reach: Reach }[] = [];

function placeholders<P extends object>(prefix = ''): P {
  return new Proxy({} as P, { get: (_, name) => new Placeholder(prefix + String(name)) });
}

const parameterName = (value: unknown) => (value instanceof Placeholder ? value.name : null);

function binder(parameters: readonly unknown[]): (params: object) => unknown[] {
  const slots = parameters.map((p) => (p instanceof Placeholder ? p.name : null));
  return (params) => {
    const values = params as Record<string, unknown>;
    const bound = [...parameters];
    for (let i = 0; i < slots.length; i++) {
      const name = slots[i];
      if (name != null) bound[i] = values[name];
    }
    return bound;
  };
}

/** `statement<{ id: string }>()((db, p) => db.selectFrom(…).where('id', '=', p.id))` */
export function statement<P extends object>() {
  return <R>(build: Build<P, R>): Statement<P, R> => new Statement<P, R>(build);
}

/**
 * An insert of whole rows: the columns are named once. Nobody asks how many rows it changed, so PostgreSQL's session
 * may hold rows back and send many in one statement.
 */
export class Insert<P extends object> extends Statement<P, unknown> {
  readonly columns: readonly string[];
  readonly #table: keyof Tables;
  readonly #replaces: readonly string[];
  readonly #many = new Map<string, { sql: string; bind(rows: readonly object[]): unknown[] }>();

  /** With `key`, an existing row gets the new values; if the key is all there is, it stays as it is. */
  constructor(table: keyof Tables, columns: readonly string[], key: readonly string[] = []) {
    super((db, p) => insertRows(db, { table, columns, key }, [p]));
    this.#table = table;
    this.columns = columns;
    this.#replaces = key;
  }

  get table(): string {
    return this.#table;
  }

  /** Whether an existing row is updated instead of being a conflict. */
  get replaces(): boolean {
    return this.#replaces.length > 0;
  }

  compileMany(dialect: Dialect, count: number): { sql: string; bind(rows: readonly object[]): unknown[] } {
    const id = `${dialect}:${count}`;
    let compiled = this.#many.get(id);
    if (compiled === undefined) {
      const rows = Array.from({ length: count }, () => placeholders<P>());
      const target = { table: this.#table, columns: this.columns, key: this.#replaces };
      const { sql } = insertRows(builders[dialect], target, rows).compile();
      compiled = { sql, bind: (values) => values.flatMap((row) => rowValues(row, this.columns)) };
      this.#many.set(id, compiled);
    }
    return compiled;
  }
}

type Target = { table: keyof Tables; columns: readonly string[]; key: readonly string[] };

function insertRows<P extends object>(db: Kysely<Tables>, target: Target, rows: readonly P[]) {
  const { table, columns, key } = target;
  const values = rows.map((p) => Object.fromEntries(columns.map((name) => [name, p[name as keyof P]])));
  const insert = db.insertInto(table).values(values as never);
  if (key.length === 0) return insert;
  const replaced = columns.filter((name) => !key.includes(name));
  return insert.onConflict((oc) => {
    const there = oc.columns(key as never);
    if (replaced.length === 0) return there.doNothing();
    return there.doUpdateSet((eb) =>
      Object.fromEntries(replaced.map((name) => [name, eb.ref(`excluded.${name}` as never)])),
    );
  });
}

function rowValues(row: object, columns: readonly string[]): unknown[] {
  return columns.map((name) => (row as Record<string, unknown>)[name]);
}

export function insertOf<T extends keyof Tables & string, C extends keyof Tables[T] & string>(
  table: T,
  columns: readonly C[],
  key: readonly C[] = [],
): Insert<Pick<Tables[T], C>> {
  return new Insert<Pick<Tables[T], C>>(table, columns, key);
}
