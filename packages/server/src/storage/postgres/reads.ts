import type { SpaceId } from '../../core/ids.ts';
import type { Tx } from '../../core/store.ts';
import type { Sealer } from '../rows/agents/agents.ts';
import type { KeptPlaceIds } from '../rows/deliveries/place-ids.ts';
import type { Session } from '../statement.ts';
import { openRead, RowsBySpace } from '../tx.ts';
import { isAftermath, isStale, storageFault } from './errors.ts';
import type { Lane } from './lane.ts';
import type { PgLink } from './link.ts';

type Read = {
  space: SpaceId;
  work: (tx: Tx) => Promise<unknown>;
  resolve: (value: unknown) => void;
  reject: (reason: unknown) => void;
};

const MODE = 'isolation level repeatable read read only';
const SETTINGS = ["statement_timeout = '15s'", "idle_in_transaction_session_timeout = '15s'"];

/**
 * Reads that arrive in one turn of the event loop see one moment, on one connection: they change nothing, so their
 * statements may interleave.
 */
export class SnapshotReads {
  readonly #free: Lane[];
  readonly #sealer: Sealer;
  readonly #placeIds: KeptPlaceIds;
  #waiting: Read[] = [];
  #planned = false;

  constructor(lanes: readonly Lane[], sealer: Sealer, placeIds: KeptPlaceIds) {
    this.#free = [...lanes];
    this.#sealer = sealer;
    this.#placeIds = placeIds;
  }

  read<T>(space: SpaceId, work: (tx: Tx) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ space, work, resolve: resolve as (value: unknown) => void, reject });
      this.#plan();
    });
  }

  #plan(): void {
    if (this.#planned) return;
    this.#planned = true;
    setImmediate(() => {
      this.#planned = false;
      const lane = this.#waiting.length > 0 ? this.#free.pop() : undefined;
      if (lane === undefined) return; // whoever comes back takes them along
      const group = this.#waiting;
      this.#waiting = [];
      void this.#run(lane, group).finally(() => {
        this.#free.push(lane);
        if (this.#waiting.length > 0) this.#plan();
      });
    });
  }

  async #run(lane: Lane, group: readonly Read[]): Promise<void> {
    const spoiled = await this.#together(lane, group, (reason) => isStale(reason) || isAftermath(reason));
    // A failed read takes the transaction with it; the others are repeated alone.
    for (const one of spoiled) await this.#together(lane, [one], () => false);
  }

  /** Returns those that may be repeated: another one failed, or a statement was prepared for an older schema. */
  async #together(
    lane: Lane,
    group: readonly Read[],
    mayTryAgain: (reason: unknown) => boolean,
  ): Promise<Read[]> {
    let link: PgLink;
    try {
      link = await lane.get();
    } catch (reason) {
      for (const { reject } of group) reject(reason);
      return [];
    }
    link.begin(MODE, SETTINGS).catch(() => {}); // the first read says so
    const rows = new RowsBySpace(readOnly(link), this.#sealer, { placeIds: this.#placeIds });
    const spoiled: Read[] = [];
    await Promise.all(
      group.map(async (one) => {
        try {
          one.resolve(await one.work(openRead(rows.of(one.space), link)));
        } catch (reason) {
          if (mayTryAgain(reason)) spoiled.push(one);
          else one.reject(storageFault(lane.told(reason)));
        }
      }),
    );
    link.exec('commit').catch(() => {});
    return spoiled;
  }
}

function readOnly(link: PgLink): Session {
  return {
    all: (statement, params) => link.all(statement, params),
    one: (statement, params) => link.one(statement, params),
    run: async () => {
      throw new Error('a read changes and announces nothing');
    },
  };
}
