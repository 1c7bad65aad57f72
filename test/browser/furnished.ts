import { AkepClient, sampleEvent } from '../support/akep.ts';
import type { Desk } from '../support/desk.ts';
import type { AtEnd } from '../support/folder.ts';
import type { Server } from '../support/server.ts';
import { until } from '../support/until.ts';
import { WakeClient } from '../support/wake.ts';
import { askAgent, TaskLaptop } from './task-laptop.ts';

const NOTES = `## What is new in 4.2

The importer now keeps **time zones**, which three customers had asked for. Searching a large archive is about twice as fast.

- Keyboard shortcuts can be changed
- The export understands \`NDJSON\` and CSV

> The first start after the update takes up to a minute while the index is rebuilt.

| Area | Changes | Risk |
|---|---:|---|
| Importer | 12 | low |
| Search | 9 | medium |

The draft is at [the staging site](https://staging.example.com/notes/4.2).
`;

const INVOICE = {
  supplier: 'Nordlicht Ltd.',
  amount: 1480,
  currency: 'EUR',
  usual_amount: 1321.5,
  approved_before: true,
  contract: { reference: 'NL-2024-07', tolerance_percent: 15 },
  lines: [
    { item: 'Hosting, October', quantity: 1, price: 1200 },
    { item: 'Support hours', quantity: 4, price: 70 },
  ],
  reversible: false,
};

const LETTER = (weeks: string, first: string) =>
  `${first}Dear Sir or Madam,\n\nwe are writing to ask for an extension of ${weeks} weeks for our filing of the third quarter.\n\nYours faithfully`;

/** A desk in the middle of a morning: something of every kind. Needs a short undo window. */
export async function furnish(server: Server): Promise<void> {
  const desk = await server.desk();
  const agents = await Promise.all(
    ['release-notes', 'invoice-clerk', 'night-watch', 'new-kid'].map((id) => agent(server, desk, id)),
  );
  const [notes, clerk, watch, kid] = agents as [Sender, Sender, Sender, Sender];
  for (const send of [notes, clerk, watch]) {
    const id = await send({ type: 'update', headline: 'Good morning', summary: 'The night was quiet.' });
    await desk.request('POST', `/desk/deliveries/${id}/read`, {});
  }
  const letter = await clerk({
    type: 'output',
    headline: 'Letter about the late filing',
    summary: 'One page, polite.',
    details: LETTER('four', ''),
  });
  await desk.decide(letter, {
    status: 'redirected',
    feedback: 'Ask for six weeks, not four.\n\nName the file number in the first line.',
  });
  await until('the redirect has gone out', async () => (await desk.detail(letter)).state === 'decided');
  await notes({
    type: 'output',
    headline: 'Release notes for 4.2 are ready to publish',
    summary: 'I gathered 38 changes into five paragraphs and left out the internal ones.',
    details: NOTES,
    timeout_seconds: 14_400,
  });
  await clerk({
    type: 'question',
    headline: 'Pay the invoice of Nordlicht Ltd., 1,480 euros?',
    summary: 'It is 12 % above the usual amount; the contract allows up to 15 %.',
    details: INVOICE,
    timeout_seconds: 7200,
  });
  await clerk({
    type: 'output',
    revises: letter,
    headline: 'Letter to the tax office, second version',
    summary: 'Six weeks, and the file number stands in the first line.',
    details: LETTER('six', 'File number 12/345/6789\n\n'),
  });
  await watch({
    type: 'alert',
    headline: 'Disk of db-2 will be full in about nine hours',
    summary: 'It grew by 3 % an hour since midnight.',
    details: 'I have not touched anything yet.',
  });
  await watch({
    type: 'update',
    headline: 'Backups finished at 03:12',
    summary: 'Three volumes, 41 GB, verified.',
  });
  await kid({
    type: 'question',
    headline: 'Hello. May I read the support mailbox from now on?',
    summary: 'This is my first delivery.',
    details: 'I would read, and label. I would never send or delete.',
  });
}

/** The same desk, when the world has reported too: acknowledged, open, replayed, caused, and refused. */
export async function furnishEvents(server: Server): Promise<string> {
  const akep = new AkepClient(server.url);
  const subscription = { event_types: ['*'] };
  await akep.request('POST', '/akep/subscriptions', subscription);
  const summary = (text: string) => ({
    knowledge: { kind: 'observation', content_type: 'text/plain', summary: text },
  });
  const causation_id = 'evt_build_0001';
  await akep.sent(sampleEvent(causation_id, summary('The build of 4.2 has begun.')));
  const event = 'evt_build_0002';
  await akep.sent(
    sampleEvent(event, {
      ...summary('The build of 4.2 is green after 11 minutes.'),
      routing: { resume_policy: 'append_only', causation_id },
    }),
  );
  await akep.request('POST', `/akep/events/${causation_id}/ack`, {
    status: 'rejected',
    reason: 'Too early.',
  });
  return event;
}

const OFFER = `## Paper for the winter

| Supplier | Reams | Price |
|---|---:|---:|
| Nordlicht Ltd. | 10 | 84 € |
| Papier & Co | 10 | 91 € |

Nordlicht delivers **on Thursday**.`;

/** An agent that others call: one task done, one that asks, one at work, one that waits. The id of the one that asks. */
export async function furnishTasks(server: Server, atEnd?: AtEnd): Promise<string> {
  const desk = await server.desk();
  const { json } = await desk.request<{ key: string }>('POST', '/desk/agents', {
    agent_id: 'bookkeeper',
    tier: 'live',
  });
  const agent = { id: 'bookkeeper', key: json.key };
  const skill = {
    id: 'buy-supplies',
    name: 'Buy supplies',
    description: 'Compares offers, asks, and orders.',
    tags: ['office'],
  };
  await desk.request('PUT', '/desk/agents/bookkeeper/card', {
    description: 'Keeps the books of a small office, and buys what it needs.',
    visibility: 'listed',
    skills: [skill],
  });
  await desk.request('POST', '/desk/agents/bookkeeper/callers', { name: 'Nordlicht Ltd.' });
  const laptop = await TaskLaptop.connect(server, agent.key, atEnd);
  const done = await askAgent(server, 'How many invoices are open?', agent);
  await laptop.say({ type: 'completed', taskId: done, text: 'Three, 2 140 euros together.' });
  const failed = await askAgent(server, 'Send the reminder of last week once more.', agent);
  await laptop.say({ type: 'failed', taskId: failed, text: 'There was none last week.' });
  const asks = await askAgent(
    server,
    'Buy ten reams of paper before the end of the week, as cheaply as possible.',
    agent,
  );
  await laptop.say({ type: 'status', taskId: asks, text: 'I am comparing two offers.' });
  const artifact = { artifactId: 'offers', name: 'offers.md', parts: [{ text: OFFER }] };
  await laptop.say({ type: 'artifact', taskId: asks, artifact });
  const words = 'May I order ten reams from Nordlicht Ltd. for 84 euros?';
  await laptop.say({ type: 'input_required', taskId: asks, text: words });
  const works = await askAgent(server, 'Prepare the figures of the third quarter.', agent);
  await laptop.say({ type: 'accepted', taskId: works });
  return asks;
}

type Sender = (body: Record<string, unknown>) => Promise<string>;

async function agent(server: Server, desk: Desk, id: string): Promise<Sender> {
  const { json } = await desk.request<{ key: string }>('POST', '/desk/agents', {
    agent_id: id,
    tier: 'live',
  });
  const wake = new WakeClient(server.url, json.key);
  return (body) => wake.delivered({ agent_id: id, timeout_seconds: undefined, details: undefined, ...body });
}
