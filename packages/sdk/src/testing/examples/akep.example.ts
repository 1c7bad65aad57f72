import { fileCursor } from '../../akep/cursor.ts';
import { createInbox } from '../../akep/inbox.ts';
import { createProducer } from '../../akep/producer.ts';
import { signEvent } from '../../akep/signature.ts';
import { verifyEvent } from '../../akep/verify.ts';
import { event as eventOf } from '../inbox.ts';
import type { Examples } from './stage.ts';

/** The `@example` of everything public in akep/, under its name. */
export const akepExamples: Examples = {
  async createProducer({ url }) {
    const producer = createProducer({
      url,
      producerId: 'prod_exporter',
      name: 'exporter',
      type: 'tool',
      keyId: process.env.AKEP_KEY_ID,
      secret: process.env.AKEP_WEBHOOK_SECRET ?? '',
    });
    return producer;
  },

  async send({ producer }) {
    const { duplicate } = await producer.send({
      event_type: 'tool.completed',
      subject: { task_id: 'task_42' },
      knowledge: { kind: 'tool_result', summary: 'The export has 1200 rows.' },
    });
    return duplicate;
  },

  async signEvent({ secret, receiver }) {
    const event = eventOf('evt_0123456789');
    const body = JSON.stringify(event);
    const headers = await signEvent({
      secret,
      id: event.event_id,
      body,
      timestamp: Math.floor(Date.now() / 1000),
    });
    await fetch(receiver, { method: 'POST', headers, body });
  },

  async verifyEvent({ arrival, note: reply, note: keep }) {
    const { body: rawBody, ...request } = await arrival();
    const result = await verifyEvent({
      secret: process.env.AKEP_WEBHOOK_SECRET,
      body: rawBody,
      headers: request.headers,
    });
    if (!result.ok) return reply(400, result.reason);
    await keep(result.event);
  },

  async createInbox({ url }) {
    const inbox = createInbox({ url, apiKey: process.env.WAKE_API_KEY ?? '', cursor: './inbox.cursor' });
    return inbox;
  },

  async fileCursor({ url, apiKey }) {
    const inbox = createInbox({ url, apiKey, cursor: fileCursor('./inbox.cursor') });
    return inbox;
  },

  async events({ inbox, signal, note: goOn }) {
    for await (const event of inbox.events({ types: ['human.approved'], signal })) {
      await goOn(event);
      await inbox.ack(event.event_id, 'applied');
    }
  },

  async stream({ inbox, signal, note: goOn }) {
    for await (const item of inbox.stream({ signal })) {
      if (item.type === 'event') await goOn(item.event);
    }
  },

  async resumes({ inbox, signal, note: load }) {
    for await (const resume of inbox.resumes({ signal })) await load(resume.run_state_ref);
  },

  async run({ inbox, signal, note: remember, note: wake }) {
    await inbox.run(async (event) => remember(event.knowledge), {
      onResume: (resume) => wake(resume.run_state_ref),
      signal,
    });
  },

  async ack({ inbox }) {
    const event = eventOf('evt_0123456789');
    await inbox.ack(event.event_id, 'rejected', { reason: 'Not about this project.' });
  },

  async get({ inbox }) {
    const { event, ack } = await inbox.get('evt_0123456789');
    return { event, ack };
  },

  async page({ inbox }) {
    const page = await inbox.page({ last: 20 });
    return page;
  },

  async task({ inbox, note: collect }) {
    if ((await inbox.task('task_42')).status === 'completed') collect();
  },

  async emit({ inbox }) {
    await inbox.emit({
      event_type: 'knowledge.acquired',
      subject: { task_id: 'task_42' },
      knowledge: { kind: 'observation', summary: 'The supplier has closed.' },
    });
  },

  async subscribe({ inbox }) {
    const { subscription_id } = await inbox.subscribe({
      event_types: ['tool.completed'],
      filters: { 'subject.task_id': 'task_42' },
    });
    return subscription_id;
  },

  async subscriptions({ inbox }) {
    const ids = (await inbox.subscriptions()).map((one) => one.subscription_id);
    return ids;
  },

  async unsubscribe({ inbox }) {
    await inbox.unsubscribe('sub_0123456789');
  },

  async openWait({ inbox }) {
    const { wait_id } = await inbox.openWait({
      subject: { task_id: 'task_42' },
      run_state_ref: 'runs/42.json',
    });
    return wait_id;
  },

  async waits({ inbox }) {
    const open = (await inbox.waits()).length;
    return open;
  },

  async endWait({ inbox }) {
    await inbox.endWait('wait_0123456789');
  },

  async waitFor({ inbox, note: goOn }) {
    const came = await inbox.waitFor(
      { event_types: ['tool.completed'], subject: { task_id: 'task_42' }, run_state_ref: 'here' },
      { timeoutMs: 600_000 },
    );
    if (came.status === 'resumed') goOn(came.event);
  },

  async policy({ inbox }) {
    const { max_resume_policy } = await inbox.policy();
    return max_resume_policy;
  },

  async setPolicy({ inbox }) {
    await inbox.setPolicy({ max_resume_policy: 'resume_if_waiting' });
  },
};
