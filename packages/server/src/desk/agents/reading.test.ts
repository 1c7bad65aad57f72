import { describe, expect, test } from 'vitest';
import { median } from '../../core/agents/stats.ts';
import type { Job } from '../../core/sending/job.ts';
import { toMillisIso } from '../../core/tasks/task.ts';
import { DAY, HOUR, SECOND, toIso } from '../../core/time.ts';
import { FRAMEWORKS } from '../../http/pages/prompts.ts';
import { subscribed } from '../../testing/akep/akep.ts';
import { AT_ONCE, body, openDesk, refused, status } from '../../testing/desk/desk.ts';
import { StreamReader } from '../../testing/network/stream.ts';
import { aJob } from '../../testing/stores/things.ts';
import type { World } from '../../testing/world.ts';

type AgentWire = {
  last_seen_at: string | null;
  waiting: number;
  stats: {
    waiting: number;
    answered_week: number;
    median_answer_seconds: number | null;
    callbacks_failing: number;
  };
};

function agent(world: World): Promise<AgentWire> {
  return body<AgentWire>(world.desk('GET', '/desk/agents/agent-01'));
}

async function listed(world: World): Promise<Record<string, AgentWire['stats']>> {
  type List = { agents: (AgentWire & { agent_id: string })[] };
  const { agents } = await body<List>(world.desk('GET', '/desk/agents'));
  return Object.fromEntries(agents.map(({ agent_id, stats }) => [agent_id, stats]));
}

describe('what is known of an agent', () => {
  test('[D41] what waits, what was answered this week, and how long answers take', async () => {
    const { world, clock } = await openDesk({ env: AT_ONCE });
    const old = await world.deliver();
    await world.decide(old, { status: 'approved' });
    clock.turn(8 * DAY);
    for (const minutes of [1, 10, 60]) {
      const id = await world.deliver();
      clock.turn(minutes * 60 * SECOND);
      await world.decide(id, { status: 'rejected' });
    }
    await world.deliver();
    await world.deliver({ type: 'update' });
    const { stats, waiting } = await agent(world);
    expect(waiting).toBe(1);
    expect(stats).toEqual({ waiting: 1, answered_week: 3, median_answer_seconds: 60, callbacks_failing: 0 });
  });

  test('[D41][A23] last seen is the later of what this server saw and what another wrote down', async () => {
    const { world, clock } = await openDesk();
    await world.deliver();
    // Written down: nothing of it is to come later.
    await world.running.ticker.tick();
    clock.turn(HOUR);
    const elsewhere = clock.now();
    await world.room.store.write(world.space.id, [], (tx) => tx.agents.seen('agent-01', elsewhere));
    expect((await agent(world)).last_seen_at).toBe(toIso(elsewhere));
    const card = await (await world.get('/@home/agent-01/.well-known/agent-card.json')).text();
    expect(card).toContain(toMillisIso(elsewhere));
    clock.turn(HOUR);
    await world.deliver();
    expect((await agent(world)).last_seen_at).toBe(toIso(clock.now()));
  });

  test('[D41] a platform with many agents reads them by the page, finds one by its letters, and has all names to choose from', async () => {
    const { world } = await openDesk();
    for (const id of ['billing-eu', 'billing-us', 'Release-Notes']) await world.addAgent({ id });
    type Page = { agents: { agent_id: string }[]; next_cursor: string | null };
    const read = async (query: string) => {
      const { agents, next_cursor } = await body<Page>(world.desk('GET', `/desk/agents?${query}`));
      return [agents.map(({ agent_id }) => agent_id), next_cursor];
    };
    expect(await read('limit=3')).toEqual([['Release-Notes', 'agent-01', 'billing-eu'], 'billing-eu']);
    expect(await read('limit=3&cursor=billing-eu')).toEqual([['billing-us'], null]);
    expect(await read('q=NOTES')).toEqual([['Release-Notes'], null]);
    expect(await read('q=nobody')).toEqual([[], null]);
    expect(await body(world.desk('GET', '/desk/agent-names'))).toEqual({
      names: ['Release-Notes', 'agent-01', 'billing-eu', 'billing-us'],
    });
    expect(await refused(world.desk('GET', '/desk/agents?limit=0'))).toMatchObject({ field: 'limit' });
  });

  test('[D41] the list says the same of each, and mixes none up', async () => {
    const { world, clock } = await openDesk({ env: AT_ONCE });
    await world.addAgent({ id: 'agent-02' });
    const id = await world.deliver();
    clock.turn(90 * SECOND);
    await world.decide(id, { status: 'approved' });
    await world.deliver();
    const all = await listed(world);
    expect(all['agent-01']).toEqual((await agent(world)).stats);
    expect(all).toEqual({
      'agent-01': { waiting: 1, answered_week: 1, median_answer_seconds: 90, callbacks_failing: 0 },
      'agent-02': { waiting: 0, answered_week: 0, median_answer_seconds: null, callbacks_failing: 0 },
    });
  });

  test('[D41] each key that works has a budget: an hour’s, what may come at once, and what is left', async () => {
    const { world, clock } = await openDesk({ env: { LANTERNROOM_RATE_TEST: '20/5' } });
    type Budget = { key_id: string; per_hour: number; at_once: number; left: number };
    const budgets = async () =>
      (await body<{ budgets: Budget[] }>(world.desk('GET', '/desk/agents/agent-01'))).budgets;
    expect(await budgets()).toMatchObject([{ per_hour: 20, at_once: 5, left: 5 }]);
    for (let i = 0; i < 3; i++) await world.deliver();
    expect(await budgets()).toMatchObject([{ left: 2 }]);
    clock.turn(3 * 60 * SECOND);
    expect(await budgets()).toMatchObject([{ left: 3 }]);
    const { key_id } = await body<{ key_id: string }>(world.desk('POST', '/desk/agents/agent-01/keys', {}));
    expect(await budgets()).toMatchObject([{ left: 3 }, { key_id, left: 5 }]);
    await body(world.desk('DELETE', `/desk/agents/agent-01/keys/${key_id}`));
    expect(await budgets()).toMatchObject([{ left: 3 }]);
  });

  test('[D41] nothing yet is null and zero', async () => {
    const { world } = await openDesk();
    expect((await agent(world)).stats).toEqual({
      waiting: 0,
      answered_week: 0,
      median_answer_seconds: null,
      callbacks_failing: 0,
    });
  });

  test('[D41] callbacks that fail and have not got through', async () => {
    const { world, clock } = await openDesk({ env: AT_ONCE });
    const origin = 'http://127.0.0.1:9'; // nobody listens on the discard port
    await world.desk('PUT', '/desk/agents/agent-01/callbacks', { callbacks: [origin] });
    const id = await world.deliver({ callback_webhook: `${origin}/hook` });
    const attempted = new Promise<void>((resolve) => {
      world.running.ground.data.store.signals.on('jobs', async () => {
        const jobs = await world.room.store.read(world.space.id, (tx) => tx.jobs.byDelivery(id));
        if (jobs[0]?.attempts === 1) resolve();
      });
    });
    await world.decide(id, { status: 'approved' });
    clock.turn(SECOND); // what is due is due when its stamp has passed
    await attempted;
    expect((await agent(world)).stats.callbacks_failing).toBe(1);
    expect((await listed(world))['agent-01']?.callbacks_failing).toBe(1);
  });

  test('[D41] forwards and pushes are no callbacks: they neither count as failing nor hide one that does', async () => {
    const { world } = await openDesk();
    const failing = async (job: Partial<Job>) => {
      const request = { url: 'https://example.com/hook', body: '{}' };
      const over = { space: world.space.id, agent: 'agent-01', state: 'given_up' as const, attempts: 10 };
      await world.room.store.write(world.space.id, [], (tx) =>
        tx.jobs.insert(aJob({ ...over, ...job }), request),
      );
    };
    for (let i = 0; i < 30; i++) {
      await failing({ id: `forward-${i}`, kind: 'forward', createdAt: 20 + i });
      await failing({ id: `push-${i}`, kind: 'push', createdAt: 20 + i });
    }
    expect((await agent(world)).stats.callbacks_failing).toBe(0);
    await failing({ id: 'callback', kind: 'callback', createdAt: 10 });
    expect((await agent(world)).stats.callbacks_failing).toBe(1);
    expect((await listed(world))['agent-01']?.callbacks_failing).toBe(1);
  });

  test('[D41] a poll counts as seen, at once on the desk and after a restart', async () => {
    const { world, clock } = await openDesk();
    expect((await agent(world)).last_seen_at).toBeNull();
    await world.get('/wake/v1/responses');
    expect((await agent(world)).last_seen_at).toBe('2026-11-15T09:00:00.000000Z');
    clock.turn(HOUR);
    await world.get('/wake/v1/responses', 'wk_test_nobody');
    await world.restart();
    expect((await agent(world)).last_seen_at).toBe('2026-11-15T09:00:00.000000Z');
  });

  test('[D41] is written down at most every half minute', async () => {
    const { world } = await openDesk();
    const written = () => world.room.store.read(world.space.id, (tx) => tx.agents.get('agent-01'));
    await world.get('/wake/v1/responses');
    await world.tick(1);
    const first = (await written())?.lastSeenAt;
    expect(first).not.toBeNull();
    await world.tick(10 * SECOND);
    await world.get('/wake/v1/responses');
    await world.tick(1);
    expect((await written())?.lastSeenAt).toBe(first);
    await world.tick(30 * SECOND);
    expect((await written())?.lastSeenAt).toBe((first ?? 0) + 10 * SECOND + 1);
  });
});

test('the median is a time that really happened', () => {
  expect([median([]), median([7]), median([9, 1]), median([9, 1, 5])]).toEqual([null, 7, 1, 5]);
});

describe('prompts', () => {
  type Prompt = { framework: string; frameworks: string[]; text: string };
  const prompt = (world: World, query = '') =>
    body<Prompt>(world.desk('GET', `/desk/agents/agent-01/prompt${query}`));

  test('[D42] every framework has one, ready to paste, with all the rules', async () => {
    const { world } = await openDesk();
    const { frameworks } = await prompt(world);
    expect(frameworks).toEqual([...FRAMEWORKS]);
    for (const framework of frameworks) {
      const { text } = await prompt(world, `?framework=${framework}`);
      expect(text, framework).toContain(`${world.url}/wake/v1/deliver`);
      expect(text, framework).toContain('agent-01');
      expect(text, framework).not.toMatch(/\{\{\w|wk_(test|live)_\w|whsec_\w/);
      expect(text, framework).not.toMatch(/install (-g )?(@lanternroom|lanternroom)/);
      expect(text, framework).toContain('With a test key 100000 deliveries an hour, at most 10000 at once');
      for (const rule of RULES) expect(text, `${framework}: ${rule}`).toMatch(rule);
    }
  });

  test('[D42] an agent reads its own with its key, with the limits of that key', async () => {
    const { world } = await openDesk();
    for (const framework of FRAMEWORKS) {
      const reply = await world.get(`/prompts/${framework}`);
      const text = await reply.text();
      expect(reply.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
      expect(text, framework).toContain(`${world.url}/wake/v1/deliver`);
      expect(text, framework).toContain('With your key 100000 deliveries an hour, at most 10000 at once');
      for (const rule of RULES) expect(text, `${framework}: ${rule}`).toMatch(rule);
    }
    expect((await world.get('/prompts/cobol')).status).toBe(422);
    expect((await world.get('/prompts/general', 'wk_test_nobody')).status).toBe(401);
    expect((await fetch(`${world.url}/prompts/general`)).status).toBe(401);
  });

  test('[D42] the limits in the words are the limits of the server', async () => {
    const { world } = await openDesk();
    const { limits } = await body<{ limits: Record<string, unknown> }>(world.get('/.well-known/wake.json'));
    const text = await (await world.get('/prompts/general')).text();
    const [least, most] = limits.timeout_seconds as number[];
    expect(text).toContain(`headline at most ${limits.headline} characters, summary ${limits.summary},`);
    expect(text).toContain(`timeout_seconds between ${least} and ${most}`);
    expect(limits.body_bytes).toBe(1024 * 1024);
  });

  test('[D42] is general when nothing is said, and refuses what it does not know', async () => {
    const { world } = await openDesk();
    expect((await prompt(world)).framework).toBe('general');
    expect(await refused(world.desk('GET', '/desk/agents/agent-01/prompt?framework=cobol'))).toMatchObject({
      status: 422,
      field: 'framework',
    });
    expect(await status(world.desk('GET', '/desk/agents/nobody/prompt'))).toBe(404);
  });
});

/** What the system prompt template of the WAKE specification tells an agent. */
const RULES = [
  /before you go on/,
  /WAKE_API_KEY/,
  /WAKE_WEBHOOK_SECRET/,
  /Authorization: Bearer/,
  /Keep the delivery_id/,
  /once a minute, until status is no longer "pending"/,
  /never\s+wait for ever/i,
  /a log of your own/,
  /`approved`: go on/,
  /`rejected`: do not do it/,
  /`redirected`: take over edited_content and feedback completely/,
  /which assumption/,
  /HMAC-SHA256\(WAKE_WEBHOOK_SECRET, the raw body\)/,
  /X-Wake-Signature\s+in\s+constant\s+time/,
  /from the environment only/,
  /Never put credentials, passwords or personal data into details/,
  /401: stop/,
  /429: wait as long as Retry-After says and retry once/,
  /one alert/,
  /delivery_id is one that you submitted/,
  /https only/,
  /what has been accomplished/,
  /one plain sentence/,
  /Do not block/,
  /Do not flood/,
  /good grace/,
];

describe('what an agent takes in', () => {
  type Shown = { subscriptions: Record<string, unknown>[]; max_resume_policy: string };
  const shown = (world: World) => body<Shown>(world.desk('GET', '/desk/agents/agent-01/subscriptions'));

  test('[D58] its subscriptions are shown with their filters and what comes of them, without a secret', async () => {
    const { world } = await openDesk();
    const callbacks = ['http://127.0.0.1:9'];
    await body(world.desk('PUT', '/desk/agents/agent-01/callbacks', { callbacks }));
    const made = await subscribed(world, {
      event_types: ['tool.completed'],
      filters: { 'subject.task_id': ['a', 'b'] },
      delivery: { type: 'webhook', url: 'http://127.0.0.1:9/events', replay_retention_seconds: 172_800 },
      security: { accepted_source_names: ['ci'] },
      capabilities: { resume_policies: ['append_only'], max_payload_bytes: 2048 },
    });
    const { subscriptions } = await shown(world);
    expect(subscriptions.find((s) => s.subscription_id === made.subscription_id)).toEqual({
      subscription_id: made.subscription_id,
      default: false,
      created_at: '2026-11-15T09:00:00.000000Z',
      event_types: ['tool.completed'],
      filters: { 'subject.task_id': ['a', 'b'] },
      source_names: ['ci'],
      producer_ids: null,
      key_ids: null,
      max_payload_bytes: 2048,
      delivery: { type: 'webhook', url: 'http://127.0.0.1:9/events' },
      furthest_resume: 'append_only',
      kept_seconds: 172_800,
    });
    expect(JSON.stringify(subscriptions)).not.toContain(made.secret);
  });

  test('[D58] an agent without one has an empty list, and the stream tells of changes', async () => {
    const { world } = await openDesk();
    expect(await shown(world)).toEqual({ subscriptions: [], max_resume_policy: 'resume_immediately' });
    const stream = await StreamReader.open(world.desk('GET', '/desk/stream'));
    await stream.next();
    await subscribed(world, { event_types: ['tool.failed'] });
    expect(await stream.next()).toEqual({ event: 'change', data: { about: 'events' } });
    expect((await shown(world)).subscriptions).toMatchObject([{ default: false }]);
  });
});
