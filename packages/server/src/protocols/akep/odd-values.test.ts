import { describe, expect, it } from 'vitest';
import { keepEnvironmentProducer } from '../../core/events/producers.ts';
import {
  anEvent,
  answered,
  type Changes,
  openInbox,
  page,
  Sender,
  sharedInbox,
  subscription,
} from '../../testing/akep/akep.ts';

/** What schemas allow, or clients get wrong, and nobody thinks of. */
describe('odd events', () => {
  const shared = sharedInbox();
  const routing = (over: Changes) => ({ routing: { resume_policy: 'append_only', ...over } });

  it.each([
    ['alone', { event_id: 'evt_command_1', command: 'rm -rf /' }],
    ['where something is missing', { ...anEvent(), routing: undefined, command: 'rm -rf /' }],
    ['where something is wrong', { ...anEvent(), spec: 'akep.v2', tool: 'shell' }],
  ])('[K4] a command %s is refused as a command', async (_, event) => {
    const reply = await shared().sender.send(event);
    expect([reply.status, reply.json.error]).toEqual([400, 'AKEP events carry knowledge, not commands.']);
  });

  it.each([2 ** 53, 2 ** 62, 1e300])('[K22] the sequence %d is taken, and has no order', async (sequence) => {
    const { sender } = shared();
    const subject = { task_id: `t_${sequence}` };
    expect((await sender.send(anEvent({ subject, ...routing({ sequence }) }))).status).toBe(202);
    expect((await sender.send(anEvent({ subject, ...routing({ sequence: 1 }) }))).status).toBe(202);
  });

  it.each([
    ['/subject', { subject: { task_id: 'a\0b' } }],
    ['/subject', { subject: { task_id: 'a', more: '\0' } }],
    ['/source', { source: { name: 'a\0b', type: 'system' } }],
    ['/routing', routing({ interrupt_id: 'a\0' })],
    ['/knowledge/summary', { knowledge: { kind: 'message', content_type: 'text/plain', summary: '\0' } }],
  ])('[K3] a null character in %s is refused, whichever the store', async (path, over) => {
    const reply = await shared().sender.send(anEvent(over));
    expect([reply.status, reply.json.path]).toEqual([400, path]);
  });

  it('[K3] in its content a null character is as good as any other', async () => {
    const knowledge = { kind: 'message', content_type: 'text/plain', summary: 's', content: 'a\0b' };
    expect((await shared().sender.send(anEvent({ knowledge }))).status).toBe(202);
  });

  it('[K3] a task id that no index holds is refused, and a long one is found', async () => {
    const { world, sender } = shared();
    const letters = Array.from({ length: 513 }, (_, n) => String.fromCodePoint(0x1f300 + ((n * 7) % 200)));
    const long = letters.slice(0, 512).join('');
    expect((await sender.send(anEvent({ subject: { task_id: long } }))).status).toBe(202);
    expect((await world.get(`/akep/tasks/${encodeURIComponent(long)}`)).status).toBe(200);
    const reply = await sender.send(anEvent({ subject: { task_id: letters.join('') } }));
    expect([reply.status, reply.json.path]).toEqual([400, '/subject/task_id']);
  });

  it.each(['2026-11-15T09:00Z', '2026-11-15T09:00:00,5Z', '2026-11-15T09:00:00+0100', '2026-11-15'])(
    '[K4] %s is no date-time',
    async (occurred_at) => {
      const reply = await shared().sender.send(anEvent({ occurred_at }));
      expect([reply.status, reply.json.path]).toEqual([400, '/occurred_at']);
    },
  );
});

describe('refusals that help', () => {
  const shared = sharedInbox();

  it.each([
    [
      '/subject must have at least one of task_id, thread_id, agent_id, user_id, artifact_id',
      { subject: { x: 1 } },
    ],
    [
      '/routing/resume_policy must be one of never, append_only, resume_if_waiting, resume_immediately',
      { routing: { resume_policy: 'now' } },
    ],
    [
      '/extensions has the name "A", which must match pattern "^[a-z0-9][a-z0-9_.-]*[a-z0-9]$"',
      { extensions: { 'a.b': 1, A: 1 } },
    ],
    [
      "/knowledge must have required property 'summary'",
      { knowledge: { kind: 'message', content_type: 'a/b' } },
    ],
    ['/routing/resume is unknown', { routing: { resume_policy: 'never', resume: 'now' } }],
  ])('[K3] %s', async (words, over) => {
    const reply = await shared().sender.send(anEvent(over));
    expect([reply.status, reply.json.error]).toEqual([400, `The envelope is not valid: ${words}.`]);
  });
});

describe('refusals of subscriptions that help', () => {
  const shared = sharedInbox();

  it.each([
    ['/owner is unknown', { owner: 'me' }],
    ['/delivery/endpoint is unknown', { delivery: { type: 'poll', endpoint: 'x' } }],
  ])('[K18] %s', async (words, over) => {
    const { world } = shared();
    const reply = await answered(world.post('/akep/subscriptions', subscription(over)));
    expect([reply.status, reply.json.error]).toEqual([400, `The subscription is not valid: ${words}.`]);
  });
});

describe('odd questions', () => {
  const shared = sharedInbox();

  it('[K12] however long somebody wants to wait, it is capped', async () => {
    const { world, sender } = shared();
    await sender.sent();
    const reply = await world.get(`/akep/events/wait?timeout_seconds=${'9'.repeat(30)}`);
    expect(reply.status).toBe(200);
    const wrong = await answered(world.get('/akep/events/wait?timeout_seconds=-1'));
    const error = 'timeout_seconds must be a whole number; more than 60 is taken as 60.';
    expect([wrong.status, wrong.json]).toEqual([400, { error, path: 'timeout_seconds' }]);
  });

  it.each([[['2026-11-15T09:00:00Z']], [5], [''], [{}], [true]])(
    '[K13] %j is no time',
    async (processed_at) => {
      const { world, sender } = shared();
      const { event_id } = await sender.sent();
      const reply = await answered(world.post(`/akep/events/${event_id}/ack`, { processed_at }));
      expect([reply.status, reply.json.path]).toEqual([400, 'processed_at']);
      const wait = { subject: { task_id: 't' }, run_state_ref: 'r', expires_at: processed_at };
      expect((await world.post('/akep/waits', wait)).status).toBe(400);
    },
  );

  it('[K13] an empty reason is none', async () => {
    const { world, sender } = shared();
    const { event_id } = await sender.sent();
    const reply = await answered(
      world.post(`/akep/events/${event_id}/ack`, { status: 'applied', reason: '' }),
    );
    expect([reply.status, reply.json.reason]).toEqual([200, null]);
  });

  it.each([['*'], ['NOT A TYPE'], ['']])('[K20] nobody waits for %s in vain', async (type) => {
    const wait = { event_types: ['tool.completed', type], run_state_ref: 'r' };
    const reply = await answered(shared().world.post('/akep/waits', wait));
    expect([reply.status, reply.json.path]).toEqual([400, 'event_types']);
  });

  it('[K16] a state that was told long ago still holds', async () => {
    const { world, sender } = shared();
    const about = { subject: { task_id: 't_talkative' } };
    await sender.sent({ ...about, event_type: 'tool.failed' });
    const messages = Array.from({ length: 205 }, () => ({ ...about, event_type: 'message.received' }));
    await Promise.all(messages.map((message) => sender.sent(message)));
    const task = await answered(world.get('/akep/tasks/t_talkative'));
    expect(task.json).toMatchObject({ status: 'failed' });
    expect(task.json.events).toHaveLength(200);
  });

  it('[K8] the producer that a reader sees tells events apart, also where the development producer signed for it', async () => {
    const { world } = await openInbox();
    await keepEnvironmentProducer(world.room, world.space.id, 'dev-secret');
    const made = { producer: { id: 'prod_environment' }, keyId: '', secret: 'dev-secret' };
    const sender = new Sender(world, made);
    const { event_id } = await sender.sent({
      source: { producer_id: 'prod_far', name: 'far', type: 'tool' },
    });
    const [seen] = (await page(world)).events;
    const status = async (producer: string) =>
      (await world.post(`/akep/events/${event_id}/ack?producer_id=${producer}`, '')).status;
    expect(await status(String(seen?.source.producer_id))).toBe(200);
    expect(await status('prod_environment')).toBe(200);
    expect(await status('prod_other')).toBe(404);
  });
});
