import { rmSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readConfig } from '../../config.ts';
import { Ticker } from '../../dispatch/ticker.ts';
import { type Ground, openGround } from '../../main.ts';
import { DeskModel, type Item, inOrder } from '../../testing/desk/desk-model.ts';
import { freshDatabase, type TestDatabase } from '../../testing/postgres/postgres.ts';
import { aDraft, aPerson } from '../../testing/stores/things.ts';
import { ManualClock, temporaryFolder } from '../../testing/world.ts';
import { addAgent, foundSpace } from '../agents/found.ts';
import type { Identity } from '../agents/key.ts';
import { type Fault, isFault, orThrow } from '../faults.ts';
import type { Person } from '../people/person.ts';
import { HOUR, SECOND } from '../time.ts';
import { accept } from './accept.ts';
import { decide, undo } from './decide.ts';
import { DELIVERY_TYPES, SECTIONS, type Section, STATUSES } from './delivery.ts';
import { total } from './reading/overview.ts';
import { check, sweep } from './sweep.ts';
import { markRead, snooze } from './triage.ts';
import { withdraw } from './withdraw.ts';

type Real = {
  ground: Ground;
  clock: ManualClock;
  ticker: Ticker;
  space: string;
  person: Person;
  agents: Identity[];
};
type Step = fc.AsyncCommand<DeskModel, Real>;

const faultOf = (outcome: unknown): Fault['fault'] | null => (isFault(outcome) ? outcome.fault : null);

/** A step of this kind for an item that exists; `pick` chooses which. */
function onItem(
  name: string,
  pick: number,
  run: (item: Item, model: DeskModel, real: Real) => Promise<void>,
): Step {
  return {
    check: (model) => model.items.length > 0,
    run: async (model, real) => {
      const item = model.items[pick % model.items.length];
      if (item !== undefined) await run(item, model, real);
    },
    toString: () => `${name}(${pick})`,
  };
}

type Wanted = {
  agent: number;
  type: number;
  body: number;
  idempotencyKey: string | null;
  dedupeKey: string | null;
  revises: number | null;
  timeoutSeconds: number | null;
};

const HOOK = 'https://example.com/hook';

function acceptStep(wanted: Wanted): Step {
  return {
    check: () => true,
    run: async (model, real) => {
      const identity = real.agents[wanted.agent];
      if (identity === undefined) return;
      const { agent } = identity.key;
      const type = DELIVERY_TYPES[wanted.type] ?? 'question';
      const mine = model.items.filter((item) => item.agent === agent);
      const revises =
        wanted.revises === null || mine.length === 0 ? null : mine[wanted.revises % mine.length];
      const { timeoutSeconds } = wanted;
      const content = {
        type,
        body: wanted.body,
        revises: revises?.id ?? null,
        timeout_seconds: timeoutSeconds,
        callback_webhook: HOOK,
      };
      const { vault } = real.ground.room;
      const hash = vault.sha256(vault.canonical(content));
      const { idempotencyKey, dedupeKey } = wanted;
      const draft = aDraft({ type, dedupeKey, revises: revises?.id ?? null, timeoutSeconds });
      const raw = Buffer.from(JSON.stringify(content));
      const outcome = await accept(real.ground.room, { identity, draft, content, raw, idempotencyKey });
      const idempotent = `${agent} ${idempotencyKey}`;
      const known = idempotencyKey === null ? null : model.remembered(idempotent);
      if (known !== null && known.hash !== hash) return expect(faultOf(outcome)).toBe('idempotency_conflict');
      const first = orThrow(outcome);
      if (known !== null) {
        const kind = known.isTwin ? 'deduplicated' : 'repeated';
        return expect(first).toMatchObject({ kind, id: known.id });
      }
      const replaced = revises === null || revises === undefined ? null : model.newest(revises);
      const twin = dedupeKey === null ? undefined : model.duplicateOf(agent, dedupeKey);
      const isTwin = twin !== undefined && twin !== replaced;
      expect(first).toMatchObject(isTwin ? { kind: 'deduplicated', id: twin.id } : { kind: 'accepted' });
      if (!isTwin) model.accept({ id: first.id, agent, type, hash, dedupeKey, timeoutSeconds }, replaced);
      const item = isTwin ? twin : model.items.at(-1);
      expect(item?.stamp).toBe(isTwin ? item?.stamp : first.createdAt);
      if (item !== undefined && idempotencyKey !== null)
        model.remember(idempotent, { id: item.id, hash, isTwin });
    },
    toString: () => `accept(${JSON.stringify(wanted)})`,
  };
}

const REFUSED = {
  held: 'already_held',
  decided: 'already_decided',
  withdrawn: 'withdrawn',
  superseded: 'superseded',
} as const;

const decideStep = (pick: number, verdict: 'approved' | 'rejected' | 'redirected', feedback: string | null) =>
  onItem(`decide ${verdict}`, pick, async (item, model, { ground, person }) => {
    const answer = { verdict, feedback, editedContent: null, contentHash: item.hash };
    const outcome = await decide(ground.room, person, item.id, answer);
    if (item.state !== 'pending') return expect(faultOf(outcome)).toBe(REFUSED[item.state]);
    expect(orThrow(outcome).decision.state).toBe('held');
    model.hold(item, verdict, feedback);
  });

const undoStep = (pick: number) =>
  onItem('undo', pick, async (item, model, { ground, person }) => {
    const outcome = await undo(ground.room, person, item.id);
    const open = item.held !== null && model.now < item.held.effectAt;
    if (!open) return expect(faultOf(outcome)).toBe('nothing_held');
    model.undo(item);
    expect(orThrow(outcome).state).toBe(item.state);
  });

const withdrawStep = (pick: number, reason: string) =>
  onItem('withdraw', pick, async (item, model, { ground, agents }) => {
    const key = agents.find((identity) => identity.key.agent === item.agent)?.key;
    if (key === undefined) return;
    const outcome = await withdraw(ground.room, key, item.id, reason);
    if (item.state === 'decided') return expect(faultOf(outcome)).toBe('not_pending');
    expect(orThrow(outcome).state).toBe('withdrawn');
    if (item.state !== 'withdrawn') model.withdraw(item, reason);
  });

const readStep = (pick: number) =>
  onItem('read', pick, async (item, model, { ground, person }) => {
    expect(orThrow(await markRead(ground.room, person, item.id)).readAt).not.toBeNull();
    model.read(item);
  });

const snoozeStep = (pick: number, seconds: number | null) =>
  onItem('snooze', pick, async (item, model, { ground, person }) => {
    const until = seconds === null ? null : model.now + seconds * SECOND;
    const outcome = await snooze(ground.room, person, item.id, until);
    if (item.state !== 'pending') return expect(faultOf(outcome)).toBe('not_pending');
    expect(orThrow(outcome).snoozedUntil).toBe(until);
    model.snooze(item, until);
  });

const pollStep = (pick: number) =>
  onItem('poll', pick, async (item, model, { ground, space }) => {
    const seen = await check(ground.room, space, item.agent, item.id);
    expect(seen).toEqual({ answered: item.answer !== null, body: model.seen(item) });
    expect(await check(ground.room, space, 'somebody-else', item.id)).toBeNull();
  });

/** Clocks also go back, and the ticker does not come at once. */
const turnStep = (micros: number, ticks: boolean): Step => ({
  check: () => true,
  run: async (model, { clock, ticker }) => {
    clock.turn(micros);
    model.now += micros;
    if (!ticks) return;
    await ticker.tick();
    model.tick();
  },
  toString: () => `turn(${micros}, ${ticks})`,
});

/** One round of the loop that the specification tells agents to run. */
async function sweepOnce(model: DeskModel, real: Real, agent: string, limit: number): Promise<boolean> {
  const since = model.since.get(agent) ?? null;
  const query = { agent, statuses: STATUSES, since, limit };
  const swept = await sweep(real.ground.room, real.space, query);
  const expected = model.changed(agent, since ?? -1);
  const page = expected.slice(0, limit);
  expect(swept).toEqual({
    items: page.map((item) => model.seen(item)),
    total: expected.length,
    lastChange: page.at(-1)?.stamp ?? null,
  });
  for (const item of page.filter((i) => i.answer !== null)) {
    // An answer comes once, and is then for good (W19).
    expect(model.collected.has(item.id)).toBe(false);
    model.collected.set(item.id, model.seen(item));
  }
  if (swept.lastChange !== null) model.since.set(agent, swept.lastChange);
  return swept.total > swept.items.length;
}

const sweepStep = (agent: number, limit: number): Step => ({
  check: () => true,
  run: async (model, real) => {
    await sweepOnce(model, real, real.agents[agent]?.key.agent ?? '', limit);
  },
  toString: () => `sweep(${agent}, ${limit})`,
});

async function open(database: TestDatabase | null): Promise<Real> {
  const clock = new ManualClock();
  const env = { LANTERNROOM_RATE_TEST: '100000/10000', ...(database && { DATABASE_URL: database.url }) };
  const ground = await openGround(readConfig({ flags: { data: temporaryFolder() }, env }), clock);
  const { id: space } = orThrow(await foundSpace(ground.room, 'home', 'test'));
  const agents = await Promise.all(
    ['agent-a', 'agent-b'].map(async (id) => {
      const made = orThrow(await addAgent(ground.room, { space, id, tier: 'test' }, 'test'));
      const found = await ground.room.store.directory.identityByDigest(ground.room.vault.sha256(made.key));
      if (found === null) throw new Error('the key is unknown');
      return found;
    }),
  );
  const parts = { room: ground.room, wakeups: ground.data.store.signals, presence: [], retentionDays: 365 };
  const ticker = new Ticker({ ...parts, checkpoint: () => ground.auditor.checkpointAll(), warn: () => {} });
  return { ground, clock, ticker, space, person: aPerson({ space }), agents };
}

/** An answer is told once on every surface, and one that is held or undone on none (L4). */
async function expectTold(item: Item, { ground, space }: Real): Promise<void> {
  const [jobs, events] = await ground.room.store.read(space, async (tx) => [
    await tx.jobs.byDelivery(item.id),
    await tx.entries.byEventId(item.agent, `evt_decision_${item.id}`, 9),
  ]);
  expect([item.id, jobs.length]).toEqual([item.id, item.answer === null ? 0 : 1]);
  expect([item.id, events.length]).toEqual([item.id, item.state === 'decided' ? 1 : 0]);
}

const OPEN = SECTIONS.filter((section) => section !== 'earlier');

/** What waits in a section, counted and in order; a held one does not wait. */
async function expectListed(section: Section, model: DeskModel, { ground, space }: Real): Promise<void> {
  const waiting = model.items.filter((item) => model.section(item) === section);
  const [listed, counts] = await ground.room.store.read(space, async (tx) => [
    await tx.deliveries.list({ section, limit: 1000 }),
    await tx.counts.waitingIn(section, 1000),
  ]);
  const ids = listed.filter(({ state }) => state === 'pending').map(({ id }) => id);
  expect([section, ids]).toEqual([section, inOrder(section, waiting).map(({ id }) => id)]);
  expect([section, total(counts)]).toEqual([section, waiting.length]);
}

/** Whatever was done, this holds. */
async function expectWhole(model: DeskModel, real: Real): Promise<void> {
  const { ground, space } = real;
  for (const { key } of real.agents) while (await sweepOnce(model, real, key.agent, 3));
  const answered = model.items.filter((item) => item.answer !== null);
  expect(new Map(answered.map((item) => [item.id, item.answer]))).toEqual(model.collected);
  for (const item of model.items) {
    const stored = await ground.room.store.read(space, (tx) => tx.deliveries.get(item.id));
    const section = model.section(item);
    if (section !== null) expect([item.id, stored?.section]).toEqual([item.id, section]);
    expect(stored).toMatchObject({ state: item.state, status: item.status, snoozedUntil: item.snoozedUntil });
    const decisions = await ground.room.store.read(space, (tx) => tx.decisions.of(item.id));
    const standing = decisions.filter((d) => d.state !== 'undone').map((d) => d.state);
    const expected = item.state === 'decided' ? ['effective'] : item.state === 'held' ? ['held'] : [];
    expect(standing).toEqual(expected);
    await expectTold(item, real);
  }
  for (const section of OPEN) await expectListed(section, model, real);
  const verdict = await ground.auditor.verify(space);
  expect(verdict.problems).toEqual([]);
  const lines = await ground.room.store.read(space, (tx) => tx.ledger.page(0, 100_000));
  const counted = new Map<string, number>();
  for (const { action } of lines.filter((l) => /^(delivery|decision)\./.test(l.action)))
    counted.set(action, (counted.get(action) ?? 0) + 1);
  expect(counted).toEqual(model.done);
}

const pick = fc.nat({ max: 30 });
const words = fc.string({ unit: 'grapheme', maxLength: 12 });

const STEPS = [
  fc
    .record({
      agent: fc.nat({ max: 1 }),
      type: fc.nat({ max: 3 }),
      body: fc.nat({ max: 2 }),
      idempotencyKey: fc.option(fc.constantFrom('once', 'twice')),
      dedupeKey: fc.option(fc.constantFrom('same', 'other')),
      revises: fc.option(pick),
      timeoutSeconds: fc.option(fc.constantFrom(60, 3600)),
    })
    .map(acceptStep),
  fc
    .tuple(
      pick,
      fc.constantFrom('approved' as const, 'rejected' as const, 'redirected' as const),
      fc.option(words),
    )
    .map((args) => decideStep(...args)),
  pick.map(undoStep),
  fc.tuple(pick, words).map((args) => withdrawStep(...args)),
  pick.map(readStep),
  fc.tuple(pick, fc.option(fc.integer({ min: 1, max: 40 }))).map((args) => snoozeStep(...args)),
  pick.map(pollStep),
  fc.tuple(fc.nat({ max: 1 }), fc.integer({ min: 1, max: 4 })).map((args) => sweepStep(...args)),
  fc
    .tuple(fc.constantFrom(-5 * SECOND, 1, SECOND, 9 * SECOND, 10 * SECOND, 25 * HOUR), fc.boolean())
    .map((args) => turnStep(...args)),
];

test.each([
  { name: 'SQLite', numRuns: 60, lend: async () => null },
  { name: 'PostgreSQL', numRuns: 12, lend: freshDatabase },
])(
  '[D9][D13][D14][D15][D16][D21][D34][W16][W19][W26] the desk behaves like its model, whatever is done in whatever order: $name',
  async ({ lend, numRuns }) => {
    await fc.assert(
      fc.asyncProperty(fc.commands(STEPS, { maxCommands: 80, size: '+1' }), async (steps) => {
        const database = await lend();
        const real = await open(database);
        const model = new DeskModel(real.clock.now());
        try {
          await fc.asyncModelRun(() => ({ model, real }), steps);
          await expectWhole(model, real);
        } finally {
          await real.ground.stop();
          await database?.drop();
          rmSync(real.ground.data.folder, { recursive: true, force: true });
        }
      }),
      { numRuns },
    );
  },
);
