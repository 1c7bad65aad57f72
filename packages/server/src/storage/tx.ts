import type { SpaceId } from '../core/ids.ts';
import { entry, ShortMemory } from '../core/maps.ts';
import type { Heads, Tx } from '../core/store.ts';
import type { TaskRows } from '../core/tasks/store.ts';
import type { TaskRecord } from '../core/tasks/task.ts';
import { deadlineRows } from './deadlines.ts';
import { readHead } from './heads.ts';
import { agentRows, type Sealer } from './rows/agents/agents.ts';
import { keyRows } from './rows/agents/keys.ts';
import { countRows } from './rows/deliveries/counts.ts';
import { decisionRows } from './rows/deliveries/decisions.ts';
import { deliveryRows } from './rows/deliveries/deliveries.ts';
import { draftRows } from './rows/deliveries/drafts.ts';
import { idempotencyRows } from './rows/deliveries/idempotency.ts';
import { KeptPlaceIds } from './rows/deliveries/place-ids.ts';
import { searchRows } from './rows/deliveries/search.ts';
import { spaceRows } from './rows/directory.ts';
import { Bodies } from './rows/events/bodies.ts';
import { entryRows } from './rows/events/entries.ts';
import { eventRows } from './rows/events/events.ts';
import { producerRows } from './rows/events/producers.ts';
import { signingRows } from './rows/events/signing-keys.ts';
import { subscriptionRows } from './rows/events/subscriptions.ts';
import { waitRows } from './rows/events/waits.ts';
import { ledgerRows } from './rows/ledger.ts';
import { leftoverRows } from './rows/leftovers.ts';
import { invitationRows } from './rows/people/invitations.ts';
import { passkeyRows, resetRows } from './rows/people/passkeys.ts';
import { personRows } from './rows/people/people.ts';
import { preferenceRows } from './rows/people/preferences.ts';
import { jobRows } from './rows/sending/jobs.ts';
import { blobRows } from './rows/tasks/blobs.ts';
import { callerRows, cardRows } from './rows/tasks/callers.ts';
import { frameRows, linkRows } from './rows/tasks/frames.ts';
import { pushRows } from './rows/tasks/pushes.ts';
import { taskRows } from './rows/tasks/tasks.ts';
import { sealedRows } from './sealing/reseal.ts';
import type { UntilChanged } from './sqlite/until-changed.ts';
import type { Session } from './statement.ts';

/** All aggregates of one space on one connection. They are stateless, so one set serves every unit of a batch. */
type Rows = Omit<Tx, 'heads' | 'announce'>;

type Remembered = {
  /** Shared by sessions that come and go, because the key never changes. */
  placeIds?: KeptPlaceIds;
  /** For a session that only reads: tasks that were just read. */
  tasks?: UntilChanged<TaskRecord>;
};

export class RowsBySpace {
  readonly #session: Session;
  readonly #sealer: Sealer;
  readonly #placeIds: KeptPlaceIds;
  readonly #tasks: UntilChanged<TaskRecord> | undefined;
  /** Written at the end of a transaction. */
  readonly bodies: Bodies;
  /** A cache for busy tenants; others may be dropped at any time. */
  readonly #known = new ShortMemory<SpaceId, Rows>(1_000);

  constructor(session: Session, sealer: Sealer, { placeIds = new KeptPlaceIds(), tasks }: Remembered = {}) {
    this.#session = session;
    this.#sealer = sealer;
    this.#placeIds = placeIds;
    this.#tasks = tasks;
    this.bodies = new Bodies(session, sealer);
  }

  of(space: SpaceId): Rows {
    return entry(this.#known, space, () => this.#make(space));
  }

  #make(space: SpaceId): Rows {
    const session = this.#session;
    return {
      space,
      spaces: spaceRows(session, space),
      people: personRows(session, space),
      agents: agentRows(session, space, this.#sealer, this.bodies),
      keys: keyRows(session, space),
      deliveries: deliveryRows(session, space, this.#placeIds),
      decisions: decisionRows(session, space),
      idempotency: idempotencyRows(session, space),
      jobs: jobRows(session, space, this.#sealer),
      ledger: ledgerRows(session, space),
      preferences: preferenceRows(session, space),
      drafts: draftRows(session, space),
      invitations: invitationRows(session, space),
      passkeys: passkeyRows(session, space),
      resets: resetRows(session, space),
      search: searchRows(session, space),
      counts: countRows(session, space),
      leftovers: leftoverRows(session, space),
      deadlines: deadlineRows(session, space),
      sealed: sealedRows(session, space, this.#sealer),
      producers: producerRows(session, space, this.#sealer),
      events: eventRows(session, space, this.bodies),
      entries: entryRows(session, space, this.bodies),
      subscriptions: subscriptionRows(session, space, this.#sealer),
      waits: waitRows(session, space),
      tasks: remembering(taskRows(session, space), space, this.#tasks),
      frames: frameRows(session, space),
      links: linkRows(session, space),
      pushes: pushRows(session, space),
      callers: callerRows(session, space),
      cards: cardRows(session, space),
      blobs: blobRows(session, space),
      signing: signingRows(session, space, this.#sealer),
    };
  }
}

/** Callers that wait for a task ask for it again and again. */
function remembering(rows: TaskRows, space: SpaceId, known: UntilChanged<TaskRecord> | undefined): TaskRows {
  if (known === undefined) return rows;
  return { ...rows, get: (id) => known.get(`${space}/${id}`, () => rows.get(id)) };
}

export function openTx(rows: Rows, heads: Heads, announce: Tx['announce']): Tx {
  // The rows are the prototype and not copied: one is made for every unit, and copying two dozen fields would cost
  // more.
  return Object.assign(Object.create(rows) as Rows, { heads, announce });
}

/** A read sees heads without locking them, and changes and announces nothing. */
export function openRead(rows: Rows, session: Session): Tx {
  const heads: Heads = { get: (name) => readHead(session, rows.space, name), set: refuse };
  return openTx(rows, heads, refuse);
}

const refuse = (): never => {
  throw new Error('a read changes and announces nothing');
};
