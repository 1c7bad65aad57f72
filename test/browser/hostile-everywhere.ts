import { AkepClient, sampleEvent } from '../support/akep.ts';
import type { Desk } from '../support/desk.ts';
import type { Server } from '../support/server.ts';
import { given } from '../support/until.ts';
import { CUNNING, FILES, MARKS, SPOOFS } from './hostile.ts';
import { askAgent, TaskLaptop } from './task-laptop.ts';

const ALL = [...MARKS, ...SPOOFS, ...CUNNING];
const TEXT = ALL.join('\n\n');
/** What fits into a name. */
const NAME = '"><img src=x onerror=window.__owned=80>';

export type Planted = { paths: string[]; questions: string[]; task: string };

/** Puts the corpus into every field of every protocol that takes words, and says where they are shown. */
export async function plant(server: Server): Promise<Planted> {
  const desk = await server.desk();
  await plantNames(desk);
  const asked = await plantDeliveries(server, desk);
  const task = await plantTask(server);
  const event = await plantEvent(server);
  const { json } = await desk.request<{ delivery_id: string }>('GET', `/desk/tasks/${task}`);
  const questions = [asked, given(json.delivery_id, 'question of the task')];
  return {
    task,
    questions,
    paths: [
      ...['/', '/sit', '/history', '/audit', '/insights', '/tasks', `/tasks/${task}`, '/events'],
      ...[`/events/agent-01/${event}`, '/agents', '/agents/agent-01', '/settings', '/settings/reading'],
      ...['/settings/people', '/settings/security', '/settings/system'],
    ],
  };
}

async function plantNames(desk: Desk): Promise<void> {
  const person = { email: 'guest@example.com', role: 'decider', password: 'correct horse battery' };
  await taken(desk, 'POST', '/desk/people', { ...person, name: NAME });
  await taken(desk, 'POST', '/desk/producers', { name: NAME, tier: 'test' });
  await taken(desk, 'POST', '/desk/tokens', { name: NAME });
  await taken(desk, 'POST', '/desk/agents/agent-01/callers', { name: NAME });
  const skill = { id: 'x', name: NAME, description: TEXT.slice(0, 900), tags: [NAME] };
  await taken(desk, 'PUT', '/desk/agents/agent-01/card', {
    description: TEXT.slice(0, 900),
    skills: [skill],
    provider: { organization: NAME, url: 'https://evil.example/' },
    documentation_url: 'https://evil.example/docs',
    icon_url: 'https://evil.example/icon.svg',
  });
}

async function plantDeliveries(server: Server, desk: Desk): Promise<string> {
  const wake = server.wake();
  const words = { headline: NAME, summary: NAME, details: TEXT };
  const decided = await wake.delivered({ ...words, thread_id: NAME });
  await desk.decide(decided, { status: 'redirected', feedback: TEXT });
  const withdrawn = await wake.delivered(words);
  await wake.withdraw(withdrawn, NAME);
  return wake.delivered({ ...words, revises: decided });
}

async function plantTask(server: Server): Promise<string> {
  const laptop = await TaskLaptop.connect(server);
  const task = await askAgent(server, TEXT);
  await laptop.say({ type: 'status', taskId: task, text: TEXT });
  const files = FILES.map(({ content, ...file }) => ({
    ...file,
    raw: Buffer.from(content.padEnd(6000, ' ')).toString('base64'),
  }));
  const small = FILES.map(({ content, ...file }) => ({
    ...file,
    raw: Buffer.from(content).toString('base64'),
  }));
  const links = ALL.slice(0, 12).map((url) => ({ url, filename: url }));
  const data = { data: Object.fromEntries(ALL.map((text, n) => [`${n} ${text.slice(0, 60)}`, text])) };
  const parts = [{ text: TEXT }, { text: TEXT, mediaType: 'text/html' }, data, ...files, ...small, ...links];
  const artifact = { artifactId: NAME, name: NAME, description: TEXT, parts };
  await laptop.say({ type: 'artifact', taskId: task, artifact });
  await laptop.say({ type: 'input_required', taskId: task, text: TEXT });
  return task;
}

async function plantEvent(server: Server): Promise<string> {
  const id = 'evt_hostile_0001';
  await new AkepClient(server.url).sent(
    sampleEvent(id, {
      source: { name: NAME, type: 'system' },
      subject: { task_id: NAME, thread_id: NAME },
      knowledge: {
        kind: 'observation',
        content_type: 'text/html',
        summary: TEXT.slice(0, 1900),
        content: { html: TEXT, list: ALL },
      },
    }),
  );
  return id;
}

async function taken(desk: Desk, method: string, path: string, body: unknown): Promise<void> {
  const { status, text } = await desk.request(method, path, body);
  if (status >= 300) throw new Error(`${method} ${path} was refused: ${status} ${text}`);
}

/** Where the kept files of a task are read by the desk. */
export async function filesOf(server: Server, task: string): Promise<string[]> {
  const { text } = await (await server.desk()).request('GET', `/desk/tasks/${task}`);
  const ids = [...text.matchAll(/"stored":\{"id":"([^"]+)"/g)].map((found) => given(found[1], 'id'));
  return ids.map((id) => `/desk/tasks/${task}/content/${id}`);
}
