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

/** What all aggregates of one space on one connection are made from. */
type Source = {
  session: Session;
  space: SpaceId;
  sealer: Sealer;
  placeIds: KeptPlaceIds;
  bodies: Bodies;
  tasks: UntilChanged<TaskRecord> | undefined;
};

type Aggregates = Omit<Tx, 'space' | 'heads' | 'announce'>;

/** Aggregates are stateless, so one set serves every unit of a batch. Each is made when it is first asked for: few units need more than three. */
type Rows = { readonly source: Source; readonly made: Partial<Record<keyof Aggregates, object>> };

const MAKERS: { readonly [Name in keyof Aggregates]: (source: Source) => Aggregates[Name] } = {
  spaces: ({ session, space }) => spaceRows(session, space),
  people: ({ session, space }) => personRows(session, space),
  agents: ({ session, space, sealer, bodies }) => agentRows(session, space, sealer, bodies),
  keys: ({ session, space }) => keyRows(session, space),
  deliveries: ({ session, space, placeIds }) => deliveryRows(session, space, placeIds),
  decisions: ({ session, space }) => decisionRows(session, space),
  idempotency: ({ session, space }) => idempotencyRows(session, space),
  jobs: ({ session, space, sealer }) => jobRows(session, space, sealer),
  ledger: ({ session, space }) => ledgerRows(session, space),
  preferences: ({ session, space }) => preferenceRows(session, space),
  drafts: ({ session, space }) => draftRows(session, space),
  invitations: ({ session, space }) => invitationRows(session, space),
  passkeys: ({ session, space }) => passkeyRows(session, space),
  resets: ({ session, space }) => resetRows(session, space),
  search: ({ session, space }) => searchRows(session, space),
  counts: ({ session, space }) => countRows(session, space),
  leftovers: ({ session, space }) => leftoverRows(session, space),
  deadlines: ({ session, space }) => deadlineRows(session, space),
  sealed: ({ session, space, sealer }) => sealedRows(session, space, sealer),
  producers: ({ session, space, sealer }) => producerRows(session, space, sealer),
  events: ({ session, space, bodies }) => eventRows(session, space, bodies),
  entries: ({ session, space, bodies }) => entryRows(session, space, bodies),
  subscriptions: ({ session, space, sealer }) => subscriptionRows(session, space, sealer),
  waits: ({ session, space }) => waitRows(session, space),
  tasks: ({ session, space, tasks }) => remembering(taskRows(session, space), space, tasks),
  frames: ({ session, space }) => frameRows(session, space),
  links: ({ session, space }) => linkRows(session, space),
  pushes: ({ session, space }) => pushRows(session, space),
  callers: ({ session, space }) => callerRows(session, space),
  cards: ({ session, space }) => cardRows(session, space),
  blobs: ({ session, space }) => blobRows(session, space),
  signing: ({ session, space, sealer }) => signingRows(session, space, sealer),
};

type Remembered = {
  /** Shared by sessions that come and go, because the key never changes. */
  placeIds?: KeptPlaceIds;
  /** For a session that only reads: tasks that were just read. */
  tasks?: UntilChanged<TaskRecord>;
};

export class RowsBySpace {
  readonly #shared: Omit<Source, 'space'>;
  /** A cache for busy tenants; others may be dropped at any time. */
  readonly #known = new ShortMemory<SpaceId, Rows>(1_000);

  constructor(session: Session, sealer: Sealer, { placeIds = new KeptPlaceIds(), tasks }: Remembered = {}) {
    this.#shared = { session, sealer, placeIds, tasks, bodies: new Bodies(session, sealer) };
  }

  /** Written at the end of a transaction. */
  get bodies(): Bodies {
    return this.#shared.bodies;
  }

  of(space: SpaceId): Rows {
    return entry(this.#known, space, () => ({ source: { ...this.#shared, space }, made: {} }));
  }
}

/** Callers that wait for a task ask for it again and again. */
function remembering(rows: TaskRows, space: SpaceId, known: UntilChanged<TaskRecord> | undefined): TaskRows {
  if (known === undefined) return rows;
  return { ...rows, get: (id) => known.get(`${space}/${id}`, () => rows.get(id)) };
}

/**
 * One is made for every unit, so it copies nothing. Nor are the rows its prototype: every prototype gets a hidden class
 * that lives until the next full collection, and would keep all of its batch until then.
 */
class OpenTx {
  readonly heads: Heads;
  readonly announce: Tx['announce'];
  readonly rows: Rows;

  constructor(rows: Rows, heads: Heads, announce: Tx['announce']) {
    this.rows = rows;
    this.heads = heads;
    this.announce = announce;
  }

  get space(): SpaceId {
    return this.rows.source.space;
  }
}

for (const name of Object.keys(MAKERS) as (keyof Aggregates)[]) {
  Object.defineProperty(OpenTx.prototype, name, {
    get(this: OpenTx) {
      const { made, source } = this.rows;
      made[name] ??= MAKERS[name](source);
      return made[name];
    },
  });
}

export function openTx(rows: Rows, heads: Heads, announce: Tx['announce']): Tx {
  return new OpenTx(rows, heads, announce) as unknown as Tx; // its other members are defined above, by name
}

/** A read sees heads without locking them, and changes and announces nothing. */
export function openRead(rows: Rows, session: Session): Tx {
  const heads: Heads = { get: (name) => readHead(session, rows.source.space, name), set: refuse };
  return openTx(rows, heads, refuse);
}

const refuse = (): never => {
  throw new Error('a read changes and announces nothing');
};
