import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { SqliteStore } from '../../storage/sqlite.ts';
import type { Session, Statement } from '../../storage/statement.ts';
import { MasterVault } from '../../storage/vault.ts';
import { freshFolder } from '../folders.ts';

export type Plan = { sql: string; steps: string[] };

/** Asks the database how it would run each statement, and runs none of them. */
class Explaining implements Session {
  readonly plans: Plan[] = [];
  readonly #db: SqliteStore['session']['db'];

  constructor({ db }: SqliteStore['session']) {
    this.#db = db;
  }

  async all<P extends object, R>(statement: Statement<P, R>, params: P): Promise<R[]> {
    this.#explain(statement, params);
    return [];
  }

  async one<P extends object, R>(statement: Statement<P, R>, params: P): Promise<R | undefined> {
    this.#explain(statement, params);
    return undefined;
  }

  async run<P extends object, R>(statement: Statement<P, R>, params: P): Promise<number> {
    this.#explain(statement, params);
    return 0;
  }

  #explain<P extends object, R>(statement: Statement<P, R>, params: P): void {
    const { sql, bind } = statement.compile('sqlite');
    const rows = this.#db.prepare(`explain query plan ${sql}`).all(...bind(params)) as { detail: string }[];
    this.plans.push({ sql, steps: rows.map((row) => row.detail) });
  }
}

/** On an empty store, which is enough: SQLite chooses its plan by the schema alone until it is told to analyze. */
export function explaining(): Explaining {
  const vault = new MasterVault(Buffer.from('a master key for tests'));
  const file = join(freshFolder(), 'store.db');
  const store = SqliteStore.open({ file, sealer: vault, sealHead: vault.mac });
  onTestFinished(() => store.stop());
  return new Explaining(store.session);
}

/** The steps that cost more than what they return: walks over a whole table, and sorts that no index has spared. */
export function excess({ sql, steps }: Plan): string[] {
  const walks = steps
    .filter((step) => /^SCAN (?!CONSTANT)/.test(step))
    .filter((step) => !isFirstOfIndex(sql, step) && !isCutOff(sql, step));
  const sorts = steps.filter((step) => step === 'USE TEMP B-TREE FOR ORDER BY');
  return [...walks, ...sorts].map((step) => `${step}: ${sql}`);
}

/** A walk along an index, in its order, that stops at a limit. */
function isFirstOfIndex(sql: string, step: string): boolean {
  return / USING (COVERING )?INDEX /.test(step) && / order by \S+(?: desc)? limit \?$/.test(sql);
}

/** A part of the statement that has its own limit may be walked to its end. */
function isCutOff(sql: string, step: string): boolean {
  return sql.includes(` limit ?) as "${step.replace('SCAN ', '')}"`);
}

/** Arguments for every verb: a new one without any does not compile. */
export type Samples<Rows> = {
  [Verb in keyof Rows]: Rows[Verb] extends (...args: infer Args) => unknown ? Args[] : never;
};

/** The plan of every statement that the verbs run with these arguments. */
export async function plansOf<Rows extends object>(
  make: (session: Session) => Rows,
  samples: Samples<Rows>,
): Promise<Plan[]> {
  const session = explaining();
  const rows = make(session) as Record<string, (...args: unknown[]) => Promise<unknown>>;
  for (const [verb, calls] of Object.entries(samples) as [string, unknown[][]][]) {
    for (const args of calls) await rows[verb]?.(...args);
  }
  return session.plans;
}
