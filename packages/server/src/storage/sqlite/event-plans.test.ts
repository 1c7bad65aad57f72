import { expect, test } from 'vitest';
import type { Entry, EventRecord } from '../../core/events/event.ts';
import type {
  EntryRows,
  EventDirectory,
  EventRows,
  ProducerRows,
  SubscriptionRows,
  WaitRows,
} from '../../core/events/store.ts';
import { everything } from '../../core/events/subscriptions/subscription.ts';
import type { LeftoverRows } from '../../core/leftovers.ts';
import { excess, explaining, plansOf, type Samples } from '../../testing/stores/query-plans.ts';
import { Bodies } from '../rows/events/bodies.ts';
import { entryRows } from '../rows/events/entries.ts';
import { eventRows } from '../rows/events/events.ts';
import { eventDirectory } from '../rows/events/producer-directory.ts';
import { producerRows } from '../rows/events/producers.ts';
import { subscriptionRows } from '../rows/events/subscriptions.ts';
import { waitRows } from '../rows/events/waits.ts';
import { leftoverRows } from '../rows/leftovers.ts';
import { MasterVault } from '../vault.ts';

const vault = new MasterVault(Buffer.from('a master key for tests'));
const bytes = new Uint8Array();

const event: EventRecord = {
  space: 'sp_1',
  seq: 1,
  producer: 'p',
  eventId: 'e',
  eventType: 't',
  receivedAt: 1,
  bodyHash: 'h',
  taskId: null,
  causationId: null,
  fillProducer: false,
  outOfOrder: false,
};
const { seq: eventSeq, bodyHash: _h, causationId: _c, fillProducer: _f, outOfOrder: _o, ...shared } = event;
const entry: Entry = { ...shared, agent: 'a', offset: 1, eventSeq, keptUntil: 2, hasUri: false, ack: null };
const ack = { status: 'stored' as const, processedAt: 1, reason: null };

const EVENTS: Samples<EventRows> = {
  insert: [[event, bytes]],
  get: [['p', 'e']],
  byCause: [['e', 10]],
  removeUnheld: [[[1]]],
};

const ENTRIES: Samples<EntryRows> = {
  insert: [[entry]],
  read: [['a', 0, 100]],
  runs: [['a', 0, 100]],
  byEventId: [['a', 'e', 10]],
  byTask: [['a', 't', 10]],
  lastTelling: [['a', 't']],
  at: [['a', 1]],
  newest: [['a', 9, 50]],
  recent: [[{ seq: 9, agent: '', place: 0 }, 50]],
  oldest: [['a']],
  unacked: [['a', 10]],
  setAck: [['a', 1, ack]],
  front: [['a', 10]],
  removeUpTo: [['a', 1]],
};

const WAITS: Samples<WaitRows> = {
  insert: [],
  open: [['a', 1, 10]],
  hasExpired: [['a', 1]],
  closeExpired: [['a', 1]],
  get: [['w']],
  end: [['w']],
  insertResume: [],
  resumes: [['a', 0, 10]],
  firstResumeFrom: [['a', 1]],
  resumesOf: [['a', 'e', 10]],
  removeResumesUpTo: [['a', 1]],
  settings: [['a']],
  setSettings: [['a', { maxResumePolicy: 'never', showReviews: true }]],
};

const LEFTOVERS: Samples<LeftoverRows> = {
  removeEndedJobs: [[1, 10]],
  removeEndedWaits: [[1, 10]],
  heads: [['a', 10]],
  removeHead: [['a', 1]],
};

const SUBSCRIPTIONS: Samples<SubscriptionRows> = {
  insert: [[everything('sp_1', 's', 'a', 1)]],
  update: [[everything('sp_1', 's', 'a', 1)]],
  setSecret: [['s', 'x']],
  secret: [['s']],
  delete: [['s']],
  get: [['s']],
  all: [],
  of: [],
};

const producer = { space: 'sp_1', id: 'p', name: 'p', tier: 'test', anyId: false, createdAt: 1 } as const;
const key = { space: 'sp_1', id: 'k', producer: 'p', algorithm: 'v1', createdAt: 1 } as const;

const PRODUCERS: Samples<ProducerRows> = {
  insert: [[{ ...producer, lastSeenAt: null }]],
  get: [['p']],
  list: [[]],
  seen: [['p', 1]],
  insertKey: [[{ ...key, expiresAt: null, revokedAt: null }, 's']],
  // A producer has a handful of keys.
  keys: [],
  secret: [['k']],
  setSecret: [['k', 's']],
  expireOthers: [['p', 'k', 1]],
  revokeKey: [['k', 1]],
  setKeyEnd: [['k', 1]],
  insertRefusal: [[{ space: 'sp_1', producer: 'p', at: 1, eventId: null, status: 400, reason: 'r' }]],
  refusals: [['p', 10]],
  deleteRefusalsBefore: [[1]],
};

const DIRECTORY: Samples<EventDirectory> = {
  producerKey: [['k']],
  unnamedKeys: [
    [null, 1, 32],
    ['sp_1', 1, 32],
  ],
};

test('[K9][K11][K16] no statement of events, inboxes or producers reads more than it returns', async () => {
  const plans = [
    ...(await plansOf((session) => eventRows(session, 'sp_1', new Bodies(session, vault)), EVENTS)),
    ...(await plansOf((session) => entryRows(session, 'sp_1', new Bodies(session, vault)), ENTRIES)),
    ...(await plansOf((session) => waitRows(session, 'sp_1'), WAITS)),
    ...(await plansOf((session) => leftoverRows(session, 'sp_1'), LEFTOVERS)),
    ...(await plansOf((session) => subscriptionRows(session, 'sp_1', vault), SUBSCRIPTIONS)),
    ...(await plansOf((session) => producerRows(session, 'sp_1', vault), PRODUCERS)),
    ...(await plansOf((session) => eventDirectory(session, vault), DIRECTORY)),
  ];
  expect(plans.length).toBeGreaterThan(40);
  expect(plans.flatMap(excess)).toEqual([]);
});

test('[K9] an entry is looked up by its event, and that by the one index over ids', async () => {
  const session = explaining();
  await entryRows(session, 'sp_1', new Bodies(session, vault)).byEventId('a', 'e', 10);
  expect(session.plans.flatMap(({ steps }) => steps)).toEqual([
    'SEARCH events USING INDEX events_by_event_id (space_id=? AND event_id=?)',
    'SEARCH entries USING INDEX entries_of_event_by_agent (space_id=? AND event_seq=? AND agent_id=?)',
  ]);
});
