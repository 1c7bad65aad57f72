import { describe, expect, test } from 'vitest';
import type { DecisionRows, DeliveryRows, IdempotencyRows, SearchRows } from '../../core/deliveries/store.ts';
import type { EventDirectory } from '../../core/events/store.ts';
import type { PasskeyRows } from '../../core/people/store.ts';
import type { Directory, Heads, JobRows, LedgerRows } from '../../core/store.ts';
import { excess, explaining, type Plan, plansOf, type Samples } from '../../testing/stores/query-plans.ts';
import {
  aCheckpoint,
  aDecision,
  aDelivery,
  aJob,
  aLine,
  anAttempt,
  anIdempotencyRecord,
  aPasskey,
} from '../../testing/stores/things.ts';
import { HeadCache } from '../heads.ts';
import { decisionRows } from '../rows/deliveries/decisions.ts';
import { deliveryRows } from '../rows/deliveries/deliveries.ts';
import { idempotencyRows } from '../rows/deliveries/idempotency.ts';
import { PlaceIds } from '../rows/deliveries/place-ids.ts';
import { searchRows } from '../rows/deliveries/search.ts';
import { directory } from '../rows/directory.ts';
import { ledgerRows } from '../rows/ledger.ts';
import { passkeyRows } from '../rows/people/passkeys.ts';
import { jobRows } from '../rows/sending/jobs.ts';
import { MasterVault } from '../vault.ts';

const vault = new MasterVault(Buffer.from('a master key for tests'));
const bytes = new Uint8Array();

const placeIds = { get: async () => new PlaceIds(new Uint8Array(32)) };

const DELIVERIES: Samples<DeliveryRows> = {
  idAt: [[1]],
  insert: [[aDelivery(), bytes]],
  get: [['id']],
  tier: [['id']],
  body: [['id']],
  polled: [['id']],
  pendingByDedupeKey: [['agent', 'key']],
  update: [[aDelivery()]],
  answer: [[aDelivery(), bytes]],
  changed: [['agent', 'pending', 0, 50]],
  countChanged: [['agent', 'pending', 0]],
  list: [
    [{ section: 'needs_you', limit: 50 }],
    [{ section: 'earlier', after: { sectionAt: 1, seq: 1 }, limit: 50 }],
    [{ section: 'needs_you', agent: 'agent', limit: 50 }],
  ],
  ofThread: [
    [{ agent: 'agent', thread: 'thread', side: 'before', seq: 9, limit: 3 }],
    [{ agent: 'agent', thread: 'thread', side: 'after', seq: 9, limit: 3 }],
  ],
  countOfThread: [
    [{ agent: 'agent', thread: 'thread', side: 'before', seq: 9, limit: 1000 }],
    [{ agent: 'agent', thread: 'thread', side: 'after', seq: 9, limit: 1000 }],
  ],
  deleteAnsweredBefore: [[1, 500]],
};

const DECISIONS: Samples<DecisionRows> = {
  insert: [[aDecision(), bytes]],
  current: [['id']],
  of: [['id']],
  answer: [[1]],
  setState: [[1, 'undone']],
  history: [[{ limit: 50 }], [{ limit: 50, before: 9 }], [{ limit: 50, agent: 'agent', before: 9 }]],
};

const JOBS: Samples<JobRows> = {
  insert: [[aJob(), { url: '', body: '' }]],
  get: [['id']],
  requests: [[['id']]],
  byDelivery: [['id']],
  lease: [[[{ id: 'id', fence: 0 }], 1, 2]],
  renew: [['id', 0, 2]],
  settle: [[[{ id: 'id', fence: 0, state: 'done', dueAt: 1, attempts: 1 }]]],
  requeue: [['id', 1]],
  release: [['id', 0]],
  insertAttempt: [[anAttempt()]],
  attempts: [['id']],
};

const LEDGER: Samples<LedgerRows> = {
  insert: [[aLine()]],
  page: [[0, 1000]],
  newest: [[9, 100]],
  newestOf: [[{ from: 1, before: 9, limit: 50 }], [{ action: 'decision', from: 1, before: 9, limit: 50 }]],
  at: [[1]],
  insertCheckpoint: [[aCheckpoint()]],
  setSignature: [[1, 's']],
  checkpoints: [[]],
  lastCheckpoint: [[]],
};

const TIMES = { from: 1, before: 9 };

const SEARCH: Samples<SearchRows> = {
  add: [['word', 1]],
  count: [['word', 1000]],
  find: [
    [{ words: [], ...TIMES, limit: 50 }],
    [{ words: [], section: 'earlier', agent: 'agent', type: 'alert', ...TIMES, limit: 50 }],
    [{ words: ['one', 'two', 'three'], ...TIMES, limit: 50 }],
  ],
  walkEnd: [
    [null, TIMES, 2000],
    ['word', TIMES, 2000],
  ],
};

const IDEMPOTENCY: Samples<IdempotencyRows> = {
  get: [['agent', 'key', 1]],
  put: [[anIdempotencyRecord()]],
  deleteExpired: [[1, 500]],
};

const PASSKEYS: Samples<PasskeyRows> = {
  insert: [[aPasskey()]],
  of: [['pe_1']],
  rename: [['pk_1', 'phone']],
  used: [['pk_1', 1, 2]],
  remove: [['pk_1']],
  removeOf: [['pe_1']],
  wasUsed: [['digest']],
  markUsed: [['digest', 2]],
  forgetUsed: [[1]],
};

/** The events' part has its own tests. */
type DeskDirectory = Omit<Directory, keyof EventDirectory>;

const DIRECTORY: Samples<DeskDirectory> = {
  identityByDigest: [['digest']],
  sessionByDigest: [['digest']],
  tokenByDigest: [['digest']],
  invitationByDigest: [['digest']],
  passkeyByDigest: [['digest']],
  callerByDigest: [['digest']],
  lostLinks: [[1, 100]],
  agentAddress: [['home', 'agent']],
  resetByDigest: [['digest']],
  peopleByEmail: [['someone@example.com']],
  // All of them is what is asked for.
  spaces: [],
  spaceByHandle: [['home']],
  heldDue: [[1, 200]],
  nextHeldAt: [[]],
  snoozedDue: [[1, 200]],
  digestsDue: [[1, 200]],
  jobsDue: [[1, 128, ['https://busy.example']]],
  nextJobAt: [[1]],
};

describe('query plans', () => {
  test('[D9] no statement of deliveries or decisions reads more than it returns', async () => {
    const plans = [
      ...(await plansOf((session) => deliveryRows(session, 'sp_1', placeIds), DELIVERIES)),
      ...(await plansOf((session) => decisionRows(session, 'sp_1'), DECISIONS)),
    ];
    expect(plans.length).toBeGreaterThan(20);
    expect(plans.flatMap(excess)).toEqual([]);
  });

  test('[D83] no statement of a search reads more than its walk', async () => {
    const plans = await plansOf((session) => searchRows(session, 'sp_1'), SEARCH);
    expect(plans).toHaveLength(7);
    expect(plans.flatMap(excess)).toEqual([]);
    // Every one of them goes along an index that has the place in it.
    const walks = plans.filter(({ sql }) => sql.includes('order by'));
    for (const { steps } of walks)
      expect(steps.join('\n')).toMatch(/\(space_id=\? AND (word=\? AND )?seq>\?/);
  });

  test('[D28] no statement of jobs, idempotency or the directory reads more than it returns', async () => {
    const plans = [
      ...(await plansOf((session) => jobRows(session, 'sp_1', vault), JOBS)),
      ...(await plansOf((session) => idempotencyRows(session, 'sp_1'), IDEMPOTENCY)),
      ...(await plansOf((session) => passkeyRows(session, 'sp_1'), PASSKEYS)),
      ...(await plansOf((session): DeskDirectory => directory(session, vault), DIRECTORY)),
    ];
    expect(plans.length).toBeGreaterThan(20);
    // The few attempts of one delivery, and the few passkeys of one person, are sorted and all returned.
    expect(plans.flatMap(excess)).toEqual([
      expect.stringMatching(/^USE TEMP B-TREE FOR ORDER BY: select \* from "attempts" /),
      expect.stringMatching(/^USE TEMP B-TREE FOR ORDER BY: select \* from "passkeys" /),
    ]);
  });

  test('[D21] no statement of the ledger or the heads reads more than it returns', async () => {
    const session = explaining();
    const heads: Heads = new HeadCache(session, () => '').forSpace('sp_1', ['ledger']);
    await heads.get('ledger');
    const plans = [...session.plans, ...(await plansOf((on) => ledgerRows(on, 'sp_1'), LEDGER))];
    expect(plans.flatMap(excess)).toEqual([]);
  });

  test('[D9] the check itself finds a scan and a sort', async () => {
    const plan = (sql: string, ...steps: string[]): Plan => ({ sql, steps });
    expect(excess(plan('select 1 from "jobs"', 'SCAN jobs'))).toHaveLength(1);
    expect(excess(plan('select 1 from "jobs" where a = ? limit ?', 'SCAN jobs'))).toHaveLength(1);
    expect(excess(plan('select 1 order by x limit ?', 'USE TEMP B-TREE FOR ORDER BY'))).toHaveLength(1);
    expect(excess(plan('select 1', 'SEARCH jobs USING INDEX i (a=?)'))).toEqual([]);
  });
});
