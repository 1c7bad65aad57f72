import type { SpaceId } from '../core/ids.ts';
import type { Heads, Tx } from '../core/store.ts';
import { agentRows, type Sealer } from './agents.ts';
import { countRows } from './counts.ts';
import { decisionRows } from './decisions.ts';
import { deliveryRows } from './deliveries.ts';
import { spaceRows } from './directory.ts';
import { draftRows } from './drafts.ts';
import { entryRows } from './entries.ts';
import { eventRows } from './events.ts';
import { readHead } from './heads.ts';
import { idempotencyRows } from './idempotency.ts';
import { invitationRows } from './invitations.ts';
import { jobRows } from './jobs.ts';
import { keyRows } from './keys.ts';
import { ledgerRows } from './ledger.ts';
import { personRows } from './people.ts';
import { preferenceRows } from './preferences.ts';
import { producerRows } from './producers.ts';
import { searchRows } from './search.ts';
import type { Session } from './statement.ts';
import { subscriptionRows } from './subscriptions.ts';
import { waitRows } from './waits.ts';

/** All aggregates of one space on one connection. They hold no state, so one set serves every unit of a batch. */
type Rows = Omit<Tx, 'heads' | 'announce'>;

export class RowsBySpace {
  readonly #session: Session;
  readonly #sealer: Sealer;
  readonly #known = new Map<SpaceId, Rows>();

  constructor(session: Session, sealer: Sealer) {
    this.#session = session;
    this.#sealer = sealer;
  }

  of(space: SpaceId): Rows {
    let rows = this.#known.get(space);
    if (rows === undefined) {
      // Tenants come and go; the cache is only there to spare the hot ones.
      if (this.#known.size > 1000) this.#known.clear();
      rows = this.#make(space);
      this.#known.set(space, rows);
    }
    return rows;
  }

  #make(space: SpaceId): Rows {
    const session = this.#session;
    return {
      space,
      spaces: spaceRows(session, space),
      people: personRows(session, space),
      agents: agentRows(session, space, this.#sealer),
      keys: keyRows(session, space),
      deliveries: deliveryRows(session, space),
      decisions: decisionRows(session, space),
      idempotency: idempotencyRows(session, space),
      jobs: jobRows(session, space, this.#sealer),
      ledger: ledgerRows(session, space),
      preferences: preferenceRows(session, space),
      drafts: draftRows(session, space),
      invitations: invitationRows(session, space),
      search: searchRows(session, space),
      counts: countRows(session, space),
      producers: producerRows(session, space, this.#sealer),
      events: eventRows(session, space),
      entries: entryRows(session, space),
      subscriptions: subscriptionRows(session, space, this.#sealer),
      waits: waitRows(session, space),
    };
  }
}

export function openTx(rows: Rows, heads: Heads, announce: Tx['announce']): Tx {
  // The rows stand behind it rather than in it: one is made for every unit, and copying two dozen fields costs more.
  return Object.assign(Object.create(rows) as Rows, { heads, announce });
}

/** A read looks at heads without locking them, and changes and announces nothing. */
export function openRead(rows: Rows, session: Session): Tx {
  const heads: Heads = { get: (name) => readHead(session, rows.space, name), set: refuse };
  return openTx(rows, heads, refuse);
}

const refuse = (): never => {
  throw new Error('a read changes and announces nothing');
};
