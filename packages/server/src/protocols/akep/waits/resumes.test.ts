import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { revokeKeys } from '../../../core/agents/keys.ts';
import { RESUME_POLICIES } from '../../../core/events/event.ts';
import { orThrow } from '../../../core/faults.ts';
import { DAY, toIso } from '../../../core/time.ts';
import {
  answered,
  type Changes,
  opened,
  openInbox,
  resumesOf,
  sharedInbox,
} from '../../../testing/akep/akep.ts';
import { each, untilParked } from '../../../testing/waiting.ts';
import { ledger } from '../../../testing/wake.ts';
import { ManualClock, type World } from '../../../testing/world.ts';

const IF_WAITING = { resume_policy: 'resume_if_waiting' };

const setPolicy = (world: World, body: unknown) =>
  answered(world.desk('PUT', '/akep/policy', body, world.agent.key));

describe('waits', () => {
  it('[K20] are opened, listed and ended', async () => {
    const { world } = await openInbox();
    const body = {
      subject: { task_id: 't_1', n: 1, yes: true, nil: null },
      event_types: ['tool.completed'],
      interrupt_id: 'int_1',
      run_state_ref: 's3://runs/1',
      policy: 'resume_if_waiting',
      expires_at: '2100-01-01T00:00:00Z',
    };
    const made = await answered(world.post('/akep/waits', body));
    const id = String(made.json.wait_id);
    expect([made.status, made.headers.get('location')]).toEqual([201, `/akep/waits/${id}`]);
    const shown = { ...body, expires_at: '2100-01-01T00:00:00.000000Z' };
    expect((await answered(world.get('/akep/waits'))).json.waits).toMatchObject([{ wait_id: id, ...shown }]);
    const end = () => world.desk('DELETE', `/akep/waits/${id}`, undefined, world.agent.key);
    expect([(await end()).status, (await end()).status]).toEqual([204, 204]);
    expect((await answered(world.get('/akep/waits'))).json).toEqual({ waits: [] });
    expect(await ledger(world, 'wait.ended')).toHaveLength(1);
  });

  it.each([
    [{}, 'subject'],
    [{ subject: {} }, 'subject'],
    [{ subject: [] }, 'subject'],
    [{ subject: { a: {} } }, 'subject'],
    [{ subject: 'x' }, 'subject'],
    [{ event_types: [] }, 'event_types'],
    [{ event_types: 'a.b' }, 'event_types'],
    [{ event_types: [7] }, 'event_types'],
    [{ interrupt_id: '' }, 'interrupt_id'],
    [{ interrupt_id: 'x'.repeat(257) }, 'interrupt_id'],
    [{ interrupt_id: 'x', run_state_ref: null }, 'run_state_ref'],
    [{ interrupt_id: 'x', run_state_ref: 7 }, 'run_state_ref'],
    [{ interrupt_id: 'x', policy: 'sometimes' }, 'policy'],
    [{ interrupt_id: 'x', expires_at: 'tomorrow' }, 'expires_at'],
    [{ interrupt_id: 'x', expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
    [{ subject: { task_id: 't' }, event_type: 'tool.completed' }, 'event_type'],
    [{ interrupt_id: 'x', expires: '2030-01-01T00:00:00Z' }, 'expires'],
  ])('[K20] the wait %j is refused', async (over, place) => {
    const { world } = shared();
    const reply = await answered(world.post('/akep/waits', { run_state_ref: 'run', ...over }));
    expect([reply.status, reply.json.path]).toEqual([400, place]);
    expect((await answered(world.get('/akep/waits'))).json).toEqual({ waits: [] });
  });
  const shared = sharedInbox();

  it('[K20] belong to their agent alone', async () => {
    const { world, sender } = await openInbox();
    const other = await world.addAgent({ id: 'agent-02' });
    const id = await opened(world);
    expect((await world.desk('DELETE', `/akep/waits/${id}`, undefined, other.key)).status).toBe(404);
    await sender.sent({ routing: IF_WAITING });
    expect(await resumesOf(world, other.key)).toEqual([]);
    expect(await resumesOf(world)).toMatchObject([{ wait_id: id }]);
  });

  it('[K20] an expired wait is woken by nothing, is not listed, and takes no place', async () => {
    const clock = new ManualClock();
    const { world, sender } = await openInbox({ clock });
    await opened(world, { expires_at: toIso(clock.now() + 1_000_000) });
    clock.turn(1_000_000);
    await sender.sent({ routing: IF_WAITING });
    expect(await resumesOf(world)).toEqual([]);
    expect((await answered(world.get('/akep/waits'))).json).toEqual({ waits: [] });
  });

  it('[K35] one names so much and no more: all of them are read with every event', async () => {
    const { world } = await openInbox();
    const wait = async (over: object) => {
      const body = { subject: { task_id: 't' }, run_state_ref: 'r', ...over };
      return (await answered(world.post('/akep/waits', body))).status;
    };
    const types = (count: number) => Array(count).fill('tool.completed');
    expect(await wait({ event_types: types(200), subject: { task_id: 'x'.repeat(512) } })).toBe(201);
    expect(await wait({ event_types: types(300) })).toBe(413);
    expect(await wait({ subject: { task_id: 'x'.repeat(5000) } })).toBe(413);
    expect((await answered(world.get('/akep/waits'))).json.waits).toHaveLength(1);
  });

  it('[K35] an agent may have a thousand open ones; those that have ended by themselves do not count', async () => {
    const clock = new ManualClock();
    const { world, sender } = await openInbox({ clock });
    const expires_at = toIso(clock.now() + DAY);
    await each(Array(999).fill(expires_at), () => opened(world, { expires_at }));
    const last = await opened(world, { subject: { thread_id: 'last' } });
    const refused = await answered(world.post('/akep/waits', { interrupt_id: 'x', run_state_ref: 'r' }));
    expect(refused.status).toBe(429);
    await sender.sent({ subject: { thread_id: 'last' }, routing: IF_WAITING });
    expect(await resumesOf(world)).toMatchObject([{ wait_id: last }]);
    clock.turn(DAY);
    await opened(world);
    expect((await answered(world.get('/akep/waits'))).json.waits).toHaveLength(1);
  });
});

describe('policies', () => {
  it('[K20] the agent has one of its own, which starts as the freest', async () => {
    const { world } = await openInbox();
    const show = () => answered(world.get('/akep/policy'));
    expect((await show()).json).toEqual({ max_resume_policy: 'resume_immediately', show_reviews: true });
    expect((await setPolicy(world, { max_resume_policy: 'append_only' })).json).toEqual({
      max_resume_policy: 'append_only',
      show_reviews: true,
    });
    expect((await setPolicy(world, { show_reviews: false })).json).toEqual({
      max_resume_policy: 'append_only',
      show_reviews: false,
    });
    expect((await setPolicy(world, { max_resume_policy: 'always' })).status).toBe(400);
    expect((await setPolicy(world, { show_reviews: 'no' })).status).toBe(400);
    expect((await setPolicy(world, { show_review: false })).status).toBe(400);
    expect((await show()).json).toEqual({ max_resume_policy: 'append_only', show_reviews: false });
  });

  it.each([
    ['never', []],
    ['append_only', []],
    ['resume_if_waiting', [true]],
    [null, [true]],
  ])('[K20] an event that asks to resume at once, before a wait of policy %s', async (policy, wakes) => {
    const { world, sender } = await openInbox();
    const wait = await opened(world, { subject: { task_id: 't_1' }, policy });
    const routing = { resume_policy: 'resume_immediately' };
    await sender.sent({ subject: { task_id: 't_1' }, routing });
    expect((await resumesOf(world)).map((r) => r.wait_id === wait)).toEqual(wakes);
    // A wait for something else forbids nothing here.
    const other = await sender.sent({ subject: { task_id: 't_2' }, routing });
    expect((await resumesOf(world)).at(-1)).toMatchObject({ event_id: other.event_id, wait_id: null });
  });

  it('[K20] an event whose knowledge has expired never resumes, and is kept', async () => {
    const clock = new ManualClock();
    const { world, sender } = await openInbox({ clock });
    await opened(world);
    const knowledge = (expires_at: string | null) => ({
      kind: 'message',
      content_type: 'x/y',
      summary: 's',
      expires_at,
    });
    const routing = { resume_policy: 'resume_immediately' };
    const past = await sender.sent({ routing, knowledge: knowledge(toIso(clock.now())) });
    expect(await resumesOf(world)).toEqual([]);
    expect((await answered(world.get(`/akep/events/${past.event_id}`))).status).toBe(200);
    await sender.sent({ routing, knowledge: knowledge(toIso(clock.now() + 1)) });
    await sender.sent({ routing, knowledge: knowledge(null) });
    expect(await resumesOf(world)).toHaveLength(2);
  });
});

describe('resumes', () => {
  it('[K21] a wait is resumed at most once, also by many events at once and their duplicates', async () => {
    const { world, sender } = await openInbox();
    const id = await opened(world, { run_state_ref: 'run-7' });
    const events = await Promise.all(Array.from({ length: 30 }, () => sender.sent({ routing: IF_WAITING })));
    await Promise.all(events.map((event) => sender.send(event)));
    const resumes = await resumesOf(world);
    expect(resumes).toEqual([
      {
        resume_id: expect.stringMatching(/^res_/),
        event_id: expect.any(String),
        wait_id: id,
        run_state_ref: 'run-7',
        decision: 'resume',
        reason: 'An open wait matches (subject.task_id).',
        out_of_order: false,
      },
    ]);
  });

  it('[K21] one event wakes all waits that match it', async () => {
    const { world, sender } = await openInbox();
    const ids = [await opened(world), await opened(world, { subject: {}, interrupt_id: 'int_1' })];
    await opened(world, { subject: { task_id: 't_2' } });
    await sender.sent({ routing: { ...IF_WAITING, interrupt_id: 'int_1' } });
    expect((await resumesOf(world)).map((r) => r.wait_id)).toEqual(ids);
    expect((await answered(world.get('/akep/waits'))).json.waits).toHaveLength(1);
  });

  it('[K21] are read by pages, and leave with their events', async () => {
    const clock = new ManualClock();
    const { world, sender } = await openInbox({ clock });
    const read = async (query: string) => (await answered(world.get(`/akep/resumes${query}`))).json;
    const start = await read('');
    expect(start).toEqual({ resumes: [], next_cursor: expect.any(String), has_more: false });
    for (let n = 0; n < 5; n++) await sender.sent({ routing: { resume_policy: 'resume_immediately' } });
    const first = await read(`?limit=3&cursor=${start.next_cursor}`);
    expect([(first.resumes as unknown[]).length, first.has_more]).toEqual([3, true]);
    const second = await read(`?limit=3&cursor=${first.next_cursor}`);
    expect([(second.resumes as unknown[]).length, second.has_more]).toEqual([2, false]);
    await world.tick(7 * DAY);
    const gone = await answered(world.get(`/akep/resumes?cursor=${start.next_cursor}`));
    expect([gone.status, gone.json.oldest_cursor]).toEqual([410, second.next_cursor]);
    expect(await read('')).toEqual({ ...second, resumes: [] });
  });
});

describe('order', () => {
  it.each([
    [
      [1, 2, 3],
      [false, false, false],
    ],
    [
      [5, 6],
      [false, false],
    ],
    [
      [1, 3],
      [false, true],
    ],
    [
      [1, 3, 4],
      [false, true, false],
    ],
    [
      [3, 2],
      [false, true],
    ],
    [
      [3, 2, 4],
      [false, true, false],
    ],
    [
      [1, 1],
      [false, true],
    ],
    [
      [0, 1],
      [false, false],
    ],
    [
      [1, null, 2],
      [false, false, false],
    ],
  ])('[K22] the sequences %j of one subject are out of order: %j', async (sequences, marks) => {
    const { world, sender } = shared();
    const subject = { thread_id: `order ${sequences}`, x: 1 };
    const before = (await resumesOf(world)).length;
    for (const sequence of sequences)
      await sender.sent({ subject, routing: { resume_policy: 'resume_immediately', sequence } });
    // Other subjects have an order of their own.
    await sender.sent({ subject: { ...subject, x: 2 }, routing: { resume_policy: 'never', sequence: 99 } });
    const resumes = (await resumesOf(world)).slice(before);
    expect(resumes.map((r) => r.out_of_order)).toEqual(marks);
    for (const r of resumes) expect(r.reason.includes('out of order')).toBe(r.out_of_order);
  });
  const shared = sharedInbox();
});

/** The rule of K20 in the fewest words: what wakes, by the policies in order from never to at once. */
function model(event: Model, waits: readonly (Model & { policy: number | null })[], local: number) {
  const advice = Math.min(event.policy ?? 0, local);
  if (advice < 2) return [];
  const matching = waits.flatMap((wait, n) => (fits(wait, event) ? [n] : []));
  if (matching.length === 0) return advice === 3 ? [null] : [];
  return matching.filter((n) => Math.min(advice, waits[n]?.policy ?? 3) >= 2);
}

type Model = { task: string | null; type: string | null; interrupt: string | null; policy: number | null };

function fits(wait: Model, event: Model): boolean {
  return (
    (wait.task === null || wait.task === event.task) &&
    (wait.type === null || wait.type === event.type) &&
    (wait.interrupt === null || wait.interrupt === event.interrupt)
  );
}

const toWait = (wait: Model, n: number): Changes => ({
  subject: wait.task === null ? {} : { task_id: wait.task },
  event_types: wait.type === null ? null : [wait.type],
  interrupt_id: wait.interrupt,
  policy: wait.policy === null ? null : RESUME_POLICIES[wait.policy],
  run_state_ref: String(n),
});

const toEvent = (event: Model): Changes => ({
  event_type: event.type,
  subject: { task_id: event.task },
  routing: { resume_policy: RESUME_POLICIES[event.policy ?? 0], interrupt_id: event.interrupt },
});

describe('the whole matrix', () => {
  const shared = sharedInbox();
  const task = fc.constantFrom('t_a', 't_b');
  const type = fc.constantFrom('tool.completed', 'tool.failed');
  const interrupt = fc.constantFrom('int_a', 'int_b');
  const policy = fc.integer({ min: 0, max: 3 });
  const wait = fc
    .record({
      task: fc.option(task),
      type: fc.option(type),
      interrupt: fc.option(interrupt),
      policy: fc.option(policy),
    })
    .filter((w) => w.task !== null || w.type !== null || w.interrupt !== null);
  const event = fc.record({ task, type, interrupt: fc.option(interrupt), policy });

  it('[K20] every event wakes just what the rule says', async () => {
    const { world, sender } = shared();
    const check = async (waits: Model[], arriving: Model, local: number) => {
      await setPolicy(world, { max_resume_policy: RESUME_POLICIES[local] });
      const ids: string[] = [];
      for (const [n, one] of waits.entries()) ids.push(await opened(world, toWait(one, n)));
      const sent = await sender.sent(toEvent(arriving));
      const found = (await resumesOf(world)).filter((r) => r.event_id === sent.event_id);
      const expected = model(arriving, waits, local);
      expect(found.map((r) => r.wait_id)).toEqual(expected.map((n) => (n === null ? null : ids[n])));
      expect(found.map((r) => r.run_state_ref)).toEqual(expected.map((n) => (n === null ? null : String(n))));
      for (const id of ids) await world.desk('DELETE', `/akep/waits/${id}`, undefined, world.agent.key);
    };
    const runs = fc.asyncProperty(fc.array(wait, { maxLength: 4 }), event, policy, check);
    await fc.assert(runs, { numRuns: 60 });
  });
});

describe('waiting for a resume', () => {
  const waitFor = (world: World, query = '') =>
    answered(world.get(`/akep/resumes/wait?timeout_seconds=30${query}`));

  it('[K41] answers as soon as there is one, with the cursor after it', async () => {
    const { world, sender } = await openInbox();
    const id = await opened(world);
    const waiting = waitFor(world);
    await untilParked(world, 1);
    await sender.sent({ subject: { task_id: 'another' } });
    await sender.sent({ routing: IF_WAITING });
    const { status, json } = await waiting;
    expect([status, json.resumes]).toMatchObject([200, [{ wait_id: id }]]);
    const behind = `&cursor=${json.next_cursor}`;
    expect((await answered(world.get(`/akep/resumes/wait?timeout_seconds=0${behind}`))).status).toBe(204);
    const further = waitFor(world, behind);
    await opened(world);
    await sender.sent({ routing: IF_WAITING });
    expect((await further).json.resumes).toHaveLength(1);
  });

  it('[K41] what is there is answered at once; another agent and a wrong cursor get none of it', async () => {
    const { world, sender } = await openInbox();
    const other = await world.addAgent({ id: 'agent-02' });
    await opened(world);
    await sender.sent({ routing: IF_WAITING });
    const { json } = await waitFor(world);
    expect(json.resumes).toHaveLength(1);
    const path = '/akep/resumes/wait?timeout_seconds=0';
    expect((await world.get(path, other.key)).status).toBe(204);
    expect((await world.get(`${path}&cursor=${json.next_cursor}`, other.key)).status).toBe(400);
    expect((await world.get(`${path}&cursor=nonsense`)).status).toBe(400);
  });

  it('[K41] a key that ends meanwhile sees nothing more', async () => {
    const { world, sender } = await openInbox();
    await opened(world);
    const waiting = waitFor(world);
    await untilParked(world, 1);
    orThrow(await revokeKeys(world.room, { space: world.space.id, agent: world.agent.agent.id }, 'test'));
    await sender.sent({ routing: IF_WAITING });
    expect((await waiting).status).toBe(403);
  });
});
