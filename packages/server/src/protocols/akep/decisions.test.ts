import { describe, expect, it } from 'vitest';
import {
  addSender,
  anEvent,
  answered,
  idsOf,
  opened,
  openInbox,
  readAll,
  resumesOf,
  type Sender,
  subscribed,
} from '../../testing/akep/akep.ts';
import { AT_ONCE, checked, openStillWorld, openWorld } from '../../testing/wake.ts';
import { ManualClock, type World } from '../../testing/world.ts';

describe('the event of a decision', () => {
  it.each([
    ['approved', 'human.approved'],
    ['rejected', 'human.rejected'],
    ['redirected', 'message.received'],
  ])('[K28] %s becomes %s, with the content that a poll has', async (status, event_type) => {
    const world = await openWorld({ env: AT_ONCE });
    const over = { task_id: 'task_7', thread_id: 'thread_7', interrupt_id: 'int_7' };
    const id = await world.deliver(over);
    const edited_content = { brief: 'kürzer — “so”', n: 1.5 };
    await world.decide(id, { status, feedback: 'Só!', edited_content });
    const [event, ...more] = await readAll(world);
    const answer = await checked(world, id);
    expect(more).toEqual([]);
    expect(event).toEqual({
      spec: 'akep.v1',
      event_id: `evt_decision_${id}`,
      event_type,
      occurred_at: answer.responded_at,
      source: { producer_id: 'prod_lanternroom_home', name: 'lanternroom', type: 'human' },
      subject: { agent_id: 'agent-01', task_id: 'task_7', thread_id: 'thread_7' },
      knowledge: {
        kind: 'approval',
        content_type: 'application/json',
        summary: `A person has ${status} this delivery.`,
        content: answer,
      },
      routing: { resume_policy: 'resume_if_waiting', interrupt_id: 'int_7' },
    });
    const { text } = await answered(world.get('/akep/events'));
    expect(text).toContain(await (await world.get(`/wake/v1/response/${id}`)).text());
  });

  it('[K28] without a task of its own, the delivery is the task', async () => {
    const world = await openWorld({ env: AT_ONCE });
    const id = await world.deliver();
    await world.decide(id, { status: 'approved' });
    const [event] = await readAll(world);
    expect([event?.subject, event?.routing]).toEqual([
      { agent_id: 'agent-01', task_id: id },
      { resume_policy: 'resume_if_waiting' },
    ]);
    expect((await answered(world.get(`/akep/tasks/${id}`))).json.status).toBe('completed');
  });

  it('[K28] a held one is nowhere until it takes effect, an undone one never', async () => {
    const { world } = await openStillWorld();
    const held = await world.deliver();
    const undone = await world.deliver();
    for (const id of [held, undone]) await world.decide(id, { status: 'approved' });
    expect(await readAll(world)).toEqual([]);
    await world.desk('DELETE', `/desk/deliveries/${undone}/decision`);
    await world.tick(10_000_000);
    expect(idsOf(await readAll(world))).toEqual([`evt_decision_${held}`]);
    await world.tick(3_600_000_000);
    expect(await readAll(world)).toHaveLength(1);
  });

  it('[K28] it is there in the moment in which the answer is there', async () => {
    const world = await openWorld({ env: AT_ONCE });
    const id = await world.deliver();
    // One statement sees one moment. It is asked at every commit there is: never one without the other.
    const both = `select (select count(*) from deliveries where delivery_id = ? and response is not null) as answers,
      (select count(*) from entries where event_id = ?) as events`;
    const looking: Promise<Record<string, unknown>[]>[] = [];
    const look = () => looking.push(world.sql(both, id, `evt_decision_${id}`));
    const { signals } = world.running.ground.data.store;
    signals.on(`desk:${world.space.id}`, look);
    signals.on(`inbox:${world.space.id}:agent-01`, look);
    look();
    await world.decide(id, { status: 'approved' });
    look();
    const looks = (await Promise.all(looking)).flat() as { answers: number; events: number }[];
    for (const { answers, events } of looks) expect(events).toBe(answers);
    expect(looks.at(-1)).toMatchObject({ answers: 1, events: 1 });
  });

  it('[K28][K21] it resumes what waits for the task or the interrupt', async () => {
    const world = await openWorld({ env: AT_ONCE });
    const id = await world.deliver({ task_id: 'task_7', interrupt_id: 'int_7' });
    const waits = [
      await opened(world, { subject: { task_id: 'task_7' }, event_types: ['human.approved'] }),
      await opened(world, { subject: {}, interrupt_id: 'int_7' }),
    ];
    await opened(world, { subject: { task_id: 'task_8' } });
    await world.decide(id, { status: 'approved' });
    const resumes = await resumesOf(world);
    expect(resumes.map((r) => [r.wait_id, r.event_id])).toEqual(waits.map((w) => [w, `evt_decision_${id}`]));
  });

  it('[K28] only the agent that asked gets it, whatever others subscribe to', async () => {
    const world = await openWorld({ env: AT_ONCE });
    const other = await world.addAgent({ id: 'agent-02' });
    await subscribed(world, { event_types: ['*'] }, other.key);
    await world.decide(await world.deliver(), { status: 'approved' });
    expect(await readAll(world)).toHaveLength(1);
    expect(await readAll(world, other.key)).toEqual([]);
  });
});

type Row = {
  delivery_id: string;
  agent_id: string;
  tier: string;
  type: string;
  headline: string;
  summary: string;
};

const deskRows = async (world: World): Promise<Row[]> => {
  const { json } = await answered(world.desk('GET', '/desk/deliveries'));
  return json.deliveries as Row[];
};

const review = (sender: Sender, over = {}) =>
  sender.sent({
    event_type: 'human.review_required',
    subject: { task_id: 'task_9', thread_id: 'thread_9' },
    knowledge: { kind: 'message', content_type: 'x/y', summary: 'Is this right?', content: { amount: 12 } },
    routing: { resume_policy: 'append_only', interrupt_id: 'int_9' },
    ...over,
  });

describe('a review that is asked for', () => {
  it('[K29] becomes a question on the desk, whose answer names the event as its cause', async () => {
    const { world, sender } = await openInbox({ env: AT_ONCE });
    const asked = await review(sender);
    const [row, ...more] = await deskRows(world);
    expect(more).toEqual([]);
    expect(row).toMatchObject({
      agent_id: 'agent-01',
      type: 'question',
      provider: 'demo',
      headline: 'Is this right?',
      task_id: 'task_9',
      thread_id: 'thread_9',
      interrupt_id: 'int_9',
    });
    const id = row?.delivery_id ?? '';
    const { json } = await answered(world.desk('GET', `/desk/deliveries/${id}`));
    expect(json.details).toEqual({ amount: 12 });
    await world.decide(id, { status: 'approved', feedback: 'Yes.' });
    const events = await readAll(world);
    expect(idsOf(events)).toEqual([asked.event_id, `evt_decision_${id}`]);
    expect(events[1]).toMatchObject({
      event_type: 'human.approved',
      subject: { task_id: 'task_9', thread_id: 'thread_9' },
      routing: { causation_id: asked.event_id, interrupt_id: 'int_9' },
    });
    expect((await answered(world.get('/akep/tasks/task_9'))).json.status).toBe('completed');
  });

  it('[K29] shows whether it comes from a test: of the producer, or of the key that emitted it', async () => {
    const { world, sender } = await openInbox();
    const live = await addSender(world, { name: 'ours', tier: 'live' });
    const agent = await world.addAgent({ id: 'agent-02', tier: 'live' });
    const asks = (summary: string, more: object = {}) => ({
      event_type: 'human.review_required',
      knowledge: { kind: 'message', content_type: 'x/y', summary },
      ...more,
    });
    await sender.sent(asks('test producer'));
    await live.sent(asks('live producer', { source: { producer_id: live.id, name: 'ours', type: 'tool' } }));
    await answered(world.post('/akep/emit', anEvent(asks('test key'))));
    await answered(world.post('/akep/emit', anEvent(asks('live key')), agent.key));
    expect((await deskRows(world)).map((row) => [row.headline, row.tier])).toEqual([
      ['test producer', 'test'],
      ['live producer', 'live'],
      ['test key', 'test'],
      ['live key', 'live'],
    ]);
  });

  it("[K29] the agent's setting turns that off, for later ones", async () => {
    const { world, sender } = await openInbox();
    await review(sender);
    await world.desk('PUT', '/akep/policy', { show_reviews: false }, world.agent.key);
    await review(sender);
    expect(await deskRows(world)).toHaveLength(1);
    expect(await readAll(world)).toHaveLength(2);
  });

  it('[K29] a duplicate asks nobody twice', async () => {
    const { world, sender } = await openInbox();
    const asked = await review(sender);
    await Promise.all(Array.from({ length: 10 }, () => sender.send(asked)));
    expect(await deskRows(world)).toHaveLength(1);
  });

  it('[K29] the agent that it names is asked for, otherwise each that it reached', async () => {
    const { world, sender } = await openInbox();
    const other = await world.addAgent({ id: 'agent-02' });
    await subscribed(world, { event_types: ['*'] }, other.key);
    const agents = async () => (await deskRows(world)).map((row) => row.agent_id).sort();
    await review(sender, { subject: { agent_id: 'agent-02' } });
    expect(await agents()).toEqual(['agent-02']);
    await review(sender, { subject: { agent_id: 'somebody-else' } });
    expect(await agents()).toEqual(['agent-01', 'agent-02', 'agent-02']);
  });

  it('[K29] what a producer writes stands on one plain line, and is cut where it is too long', async () => {
    const clock = new ManualClock();
    const { world, sender } = await openInbox({ clock });
    const summary = `  Pay\nnow\u202e ${'x'.repeat(400)}`;
    await review(sender, { knowledge: { kind: 'message', content_type: 'x/y', summary, content: [1] } });
    const [row] = await deskRows(world);
    expect([...(row?.headline ?? '')]).toHaveLength(120);
    expect([...(row?.summary ?? '')]).toHaveLength(280);
    expect(row?.headline.startsWith('Pay now')).toBe(true);
    expect(row?.headline).not.toMatch(/[\n\u202e]/u);
    const { json } = await answered(world.desk('GET', `/desk/deliveries/${row?.delivery_id}`));
    expect(json.details).toEqual({ summary, content: [1], uri: null });
  });

  it('[K29] an event that was refused asks nobody', async () => {
    const world = await openWorld();
    const sender = await addSender(world);
    expect((await sender.send(anEvent({ event_type: 'human.review_required' }))).status).toBe(422);
    expect(await deskRows(world)).toEqual([]);
  });
});
