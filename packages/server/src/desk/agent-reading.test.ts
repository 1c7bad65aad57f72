import { describe, expect, test } from 'vitest';
import { median } from '../core/agents/agent-stats.ts';
import { DAY, HOUR, SECOND } from '../core/time.ts';
import { AT_ONCE, body, openDesk, refused, status } from '../testing/desk.ts';
import type { World } from '../testing/world.ts';

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
    expect(frameworks).toEqual([
      'general',
      'langgraph',
      'openai-agents',
      'vercel-ai',
      'claude-code',
      'plain-http',
    ]);
    for (const framework of frameworks) {
      const { text } = await prompt(world, `?framework=${framework}`);
      expect(text, framework).toContain(`${world.url}/wake/v1/deliver`);
      expect(text, framework).toContain('agent-01');
      expect(text, framework).not.toMatch(/\{\{|wk_(test|live)_\w|whsec_\w/);
      for (const rule of RULES) expect(text, `${framework}: ${rule}`).toMatch(rule);
    }
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
  /approved +go on/,
  /rejected +do not do it/,
  /redirected +take over edited_content and feedback completely/,
  /which assumption/,
  /HMAC-SHA256\(WAKE_WEBHOOK_SECRET, the raw body\)/,
  /X-Wake-Signature\s+in constant time/,
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
