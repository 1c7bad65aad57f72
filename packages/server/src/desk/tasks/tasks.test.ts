import { describe, expect, test } from 'vitest';
import type { MadeAgent } from '../../core/agents/found.ts';
import {
  aCallerToken,
  aLaptop,
  anAgent,
  changeCard,
  TestCaller,
  useWorld,
  v03Message,
} from '../../testing/a2a/a2a.ts';
import type { Laptop } from '../../testing/a2a/laptop.ts';
import { scripted } from '../../testing/a2a/scripted-agent.ts';
import { body, refused, status } from '../../testing/desk/desk.ts';
import { StreamReader } from '../../testing/network/stream.ts';
import { until } from '../../testing/waiting.ts';

const world = useWorld({ env: { LANTERNROOM_UNDO_SECONDS: '0' } });

type Row = {
  task_id: string;
  agent_id: string;
  state: string;
  asked: string;
  delivery_id: string | null;
  caller: { kind: string; name: string | null };
};
type Entry = {
  pos: number;
  kind: string;
  state: string | null;
  role: string | null;
  parts: { text?: string; stored?: { id: string; size: number } }[];
  artifact: { artifact_id: string; append: boolean; last: boolean } | null;
};
type Task = Row & { log: Entry[]; next_after: number | null };

/** Larger than what stays inside the log. */
const PAD = 5000;
const PNG = Buffer.concat([
  Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
    'base64',
  ),
  Buffer.alloc(PAD),
]);
const SCRIPT = `<script>alert(1)</script>${' '.repeat(PAD)}`;

async function send(agent: MadeAgent, text: string, key: string | null = agent.key): Promise<string> {
  const caller = new TestCaller(world(), agent, { key });
  const sent = await caller.call('message/send', {
    ...v03Message(text),
    configuration: { blocking: false },
  });
  return sent.result.id;
}

const desk = (method: string, path: string, sent?: unknown, token?: string) =>
  world().desk(method, path, sent, token);
const shown = (id: string, query = '') => body<Task>(desk('GET', `/desk/tasks/${id}${query}`));
const listed = async (query: string) =>
  (await body<{ tasks: Row[] }>(desk('GET', `/desk/tasks?${query}`))).tasks;

/** A laptop that works by the script, and a task of its own that has come so far. */
async function worked(text: string, state: string) {
  const agent = await anAgent(world());
  const laptop = await aLaptop(world(), agent, scripted);
  const stream = await StreamReader.open(desk('GET', '/desk/stream'));
  const id = await send(agent, text);
  while ((await shown(id)).state !== state) await stream.next();
  return { agent, laptop, id };
}

describe('tasks on the desk', () => {
  test('[D62] are listed whoever opened them, newest change first, by agent and state, page by page', async () => {
    const agent = await anAgent(world());
    const ids = [
      await send(agent, 'First'),
      await send(agent, 'Second', world().token),
      await send(agent, 'Third'),
    ];
    const of = `agent=${agent.agent.id}`;
    expect((await listed(of)).map((t) => t.asked)).toEqual(['Third', 'Second', 'First']);
    expect((await listed(of)).map((t) => t.caller.kind)).toEqual(['agent', 'person', 'agent']);
    await body(desk('POST', `/desk/tasks/${ids[0]}/cancel`, {}));
    expect((await listed(`${of}&state=canceled`)).map((t) => t.task_id)).toEqual([ids[0]]);
    expect((await listed(`${of}&state=submitted`)).map((t) => t.asked)).toEqual(['Third', 'Second']);
    const pages: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: { tasks: Row[]; next_cursor: string | null } = await body(
        desk('GET', `/desk/tasks?${of}&limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`),
      );
      pages.push(...page.tasks.map((t) => t.asked));
      cursor = page.next_cursor;
    }
    expect(pages).toEqual(['First', 'Third', 'Second']);
    expect(await refused(desk('GET', '/desk/tasks?state=sleeping'))).toMatchObject({ status: 422 });
    expect(await refused(desk('GET', '/desk/tasks?cursor=x'))).toMatchObject({
      status: 422,
      field: 'cursor',
    });
  });

  test('[D62] show every message, state and artifact in order, and what is new after a place', async () => {
    const { id } = await worked('artifacts please', 'completed');
    const task = await shown(id);
    expect(task.log.map((e) => e.kind)).toEqual(expect.arrayContaining(['message', 'status', 'artifact']));
    expect(task.log[0]).toMatchObject({
      pos: 1,
      kind: 'message',
      role: 'user',
      parts: [{ text: 'artifacts please' }],
    });
    const chunks = task.log.filter((e) => e.artifact?.artifact_id === 'report');
    expect(chunks.map((e) => [e.parts[0]?.text, e.artifact?.append, e.artifact?.last])).toEqual([
      ['# Re', false, false],
      ['port', true, true],
    ]);
    expect(task.log.at(-1)).toMatchObject({ kind: 'status', state: 'completed', role: 'agent' });
    const rest = await shown(id, `?after=${chunks[0]?.pos}`);
    expect(rest.log[0]?.pos).toBe((chunks[0]?.pos ?? 0) + 1);
    expect([task.next_after, rest.next_after]).toEqual([null, null]);
  });

  test('[D62][A24] a page of a long log ends early, and the next one goes on', async () => {
    const agent = await anAgent(world());
    const caller = new TestCaller(world(), agent);
    const id = await send(agent, 'Begin');
    const configuration = { blocking: false };
    for (let n = 0; n < 20; n++) {
      const message = v03Message(`${n} ${'x'.repeat(1_000_000)}`, { taskId: id });
      await caller.call('message/send', { ...message, configuration });
    }
    const told: string[] = [];
    let after: number | null = 0;
    while (after !== null) {
      const page: Task = await shown(id, `?after=${after}`);
      expect(JSON.stringify(page).length).toBeLessThan(17_000_000);
      told.push(...page.log.map(({ parts }) => parts[0]?.text?.split(' ', 1)[0] ?? ''));
      after = page.next_after;
    }
    expect(told).toEqual(['Begin', ...Array.from({ length: 20 }, (_, n) => String(n))]);
  });

  test('[D62] a reader reads, a decider cancels, and what has ended stays', async () => {
    const agent = await anAgent(world());
    const id = await send(agent, 'Anything');
    const { token: reader } = await world().addPerson(`reader-${id}@example.com`, 'reader');
    expect(await status(desk('GET', `/desk/tasks/${id}`, undefined, reader))).toBe(200);
    expect(await status(desk('POST', `/desk/tasks/${id}/cancel`, {}, reader))).toBe(403);
    const { token: decider } = await world().addPerson(`decider-${id}@example.com`, 'decider');
    expect(await body(desk('POST', `/desk/tasks/${id}/cancel`, {}, decider))).toMatchObject({
      state: 'canceled',
    });
    expect(await status(desk('POST', `/desk/tasks/${id}/cancel`, {}, decider))).toBe(409);
  });

  test('[D63] files are saved from their own address; only what its bytes show to be an image is shown', async () => {
    const agent = await anAgent(world());
    const laptop = await aLaptop(world(), agent);
    const id = await send(agent, 'Files');
    const html = Buffer.from(SCRIPT).toString('base64');
    const parts = [
      { raw: PNG.toString('base64'), mediaType: 'image/png', filename: 'dot.png' },
      { raw: html, mediaType: 'text/html', filename: 'evil"\r\n.html' },
    ];
    await laptop.say({ type: 'artifact', taskId: id, artifact: { artifactId: 'files', parts } });
    const stored = (await shown(id)).log.flatMap((e) => e.parts).flatMap((p) => p.stored ?? []);
    const [image, page] = stored.map((s) => `/desk/tasks/${id}/content/${s.id}`);
    const inline = await desk('GET', `${image}?as=image`);
    expect([inline.status, inline.headers.get('content-type')]).toEqual([200, 'image/png']);
    expect(Buffer.from(await inline.arrayBuffer()).equals(PNG)).toBe(true);
    const saved = await desk('GET', page ?? '');
    expect(saved.headers.get('content-type')).toBe('application/octet-stream');
    expect(saved.headers.get('content-disposition')).toBe("attachment; filename*=UTF-8''evil___.html");
    expect(saved.headers.get('content-security-policy')).toContain('sandbox');
    expect(saved.headers.get('x-content-type-options')).toBe('nosniff');
    expect(await saved.text()).toBe(SCRIPT);
    expect(await refused(desk('GET', `${page}?as=image`))).toMatchObject({ code: 'image_unavailable' });
    const other = await send(agent, 'Another');
    expect(await status(desk('GET', (page ?? '').replace(id, other)))).toBe(404);
  });

  test('[D64] a question of a task leads to it and back, and its answer goes on with the task', async () => {
    const agent = await anAgent(world());
    const laptop = await aLaptop(world(), agent);
    const id = await send(agent, 'Ask me');
    await laptop.say({ type: 'input_required', taskId: id, text: 'Which one?' });
    const { delivery_id: delivery } = await shown(id);
    const detail = await body<{ parts: number }>(desk('GET', `/desk/deliveries/${delivery}`));
    expect(detail).toMatchObject({ a2a_task: { task_id: id, state: 'input_required' }, parts: 0 });
    await world().decide(delivery ?? '', { status: 'approved', feedback: 'The first.' });
    expect(await shown(id)).toMatchObject({ state: 'working', delivery_id: null });
    expect((await laptopDecision(laptop)).decision).toMatchObject({
      status: 'approved',
      feedback: 'The first.',
    });
  });

  test('[D64] a task id that a WAKE agent made up leads nowhere', async () => {
    const id = await world().deliver({ task_id: 'task-of-mine' });
    expect(await body(desk('GET', `/desk/deliveries/${id}`))).toMatchObject({ a2a_task: null });
  });
});

function laptopDecision(laptop: Laptop): Promise<Record<string, unknown>> {
  return laptop.next((frame) => frame.type === 'decision');
}

describe('who may call', () => {
  test('[D65] caller tokens are shown once, tell their last use, and end at once', async () => {
    const agent = await anAgent(world());
    await changeCard(world(), agent, { visibility: 'listed' });
    const at = `/desk/agents/${agent.agent.id}/callers`;
    const made = await body<{ caller_id: string; token: string }>(
      desk('POST', at, { name: 'A partner', expires_in_days: 30 }),
    );
    expect(made.token).toMatch(/^ct_/);
    const list = async () => (await body<{ callers: Record<string, unknown>[] }>(desk('GET', at))).callers;
    expect(await list()).toMatchObject([{ name: 'A partner', last_used_at: null, revoked_at: null }]);
    expect(JSON.stringify(await list())).not.toContain(made.token);
    const id = await send(agent, 'From outside', made.token);
    const used = (await list())[0]?.last_used_at;
    expect(used).not.toBeNull();
    const asked = new TestCaller(world(), agent, { key: made.token, version: '1.0' });
    await until(async () => {
      await asked.call('GetTask', { id });
      return Date.parse(String((await list())[0]?.last_used_at)) > Date.parse(String(used));
    });
    expect(await shown(id)).toMatchObject({ caller: { kind: 'token', name: 'A partner' } });
    expect(await status(desk('DELETE', `${at}/${made.caller_id}`))).toBe(200);
    const caller = new TestCaller(world(), agent, { key: made.token });
    expect((await caller.post({})).status).toBe(401);
    const { token: decider } = await world().addPerson(`d-${agent.agent.id}@example.com`, 'decider');
    expect(await status(desk('POST', at, { name: 'x' }, decider))).toBe(403);
    expect(await status(desk('POST', at, { name: ' ' }))).toBe(422);
  });

  test('[D65] an agent is online while a laptop is connected, and asleep after', async () => {
    const agent = await anAgent(world());
    const read = () => body<{ online: boolean }>(desk('GET', `/desk/agents/${agent.agent.id}`));
    expect(await read()).toMatchObject({ online: false });
    const stream = await StreamReader.open(desk('GET', '/desk/stream'));
    const laptop = await aLaptop(world(), agent);
    while (!(await read()).online) await stream.next();
    await laptop.close();
    while ((await read()).online) await stream.next();
    expect((await read()) as { last_seen_at?: unknown }).toMatchObject({ online: false });
  });
});

describe('cards', () => {
  type Card = {
    card: { description: string; visibility: string; skills: object[] };
    url: string;
    preview: { v1: { name: string; skills: { name: string }[] }; all: { url?: string } };
    signed_with: string[];
  };
  const skill = { id: 'sum', name: 'Sums', description: 'Adds numbers up.', tags: ['math'] };

  test('[D66] an owner edits one, and sees both forms as they are served', async () => {
    const agent = await anAgent(world());
    const at = `/desk/agents/${agent.agent.id}/card`;
    const before = await body<Card>(desk('GET', at));
    expect(before.card).toMatchObject({ visibility: 'space', skills: [] });
    const draft = { description: 'Counts things.', skills: [skill], visibility: 'public' };
    const preview = await body<Card['preview']>(desk('POST', `${at}/preview`, draft));
    expect(preview.v1.skills.map((s) => s.name)).toEqual(['Sums']);
    expect((await body<Card>(desk('GET', at))).card).toEqual(before.card);
    const after = await body<Card>(desk('PUT', at, draft));
    expect(after.card).toMatchObject(draft);
    const well = `/@home/${agent.agent.id}/.well-known/agent-card.json`;
    const served = await (await fetch(world().url + well, { headers: { 'a2a-version': '1.0' } })).json();
    const both = await (await fetch(world().url + well)).json();
    const bare = (card: object) => ({ ...card, signatures: null });
    expect(bare(served as object)).toEqual(bare(after.preview.v1));
    expect(bare(both as object)).toEqual(bare(after.preview.all));
  });

  test.each([
    [{ description: '' }, 'description'],
    [{ visibility: 'everybody' }, 'visibility'],
    [{ skills: [{ id: 'x' }] }, 'skills.name'],
    [{ skills: [skill, skill] }, 'skills'],
    [{ wait_seconds: 31 }, 'wait_seconds'],
    [{ input_modes: [] }, 'input_modes'],
    [{ output_modes: ['text'] }, 'output_modes'],
    [{ documentation_url: 'ftp://x' }, 'documentation_url'],
    [{ icon_url: 'x' }, 'icon_url'],
    [{ private: 'yes' }, 'private'],
    [{ colour: 'blue' }, 'colour'],
    [{ toString: 'x' }, 'toString'],
  ])('[D66] %j is refused by name, and nothing changes', async (sent, field) => {
    const agent = await anAgent(world());
    const at = `/desk/agents/${agent.agent.id}/card`;
    const before = (await body<Card>(desk('GET', at))).card;
    expect(await refused(desk('PUT', at, sent))).toMatchObject({ status: 422, field });
    expect((await body<Card>(desk('GET', at))).card).toEqual(before);
    const { token } = await world().addPerson(`d-${agent.agent.id}@example.com`, 'decider');
    expect(await status(desk('PUT', at, {}, token))).toBe(403);
  });

  test('[D67] says which key signed it; a new key signs at once, and the one before stays published', async () => {
    const agent = await anAgent(world());
    const at = `/desk/agents/${agent.agent.id}/card`;
    const [old] = (await body<Card>(desk('GET', at))).signed_with;
    const { keys } = await body<{ keys: { key_id: string; retired_at: string | null }[] }>(
      desk('POST', '/desk/signing/rotate', {}),
    );
    expect(keys.map((k) => [k.key_id === old, k.retired_at === null])).toEqual([
      [false, true],
      [true, false],
    ]);
    expect((await body<Card>(desk('GET', at))).signed_with).toEqual([keys[0]?.key_id]);
    const jwks = (await (await fetch(`${world().url}/.well-known/jwks.json`)).json()) as {
      keys: { kid: string }[];
    };
    expect(jwks.keys.map((k) => k.kid)).toEqual(keys.map((k) => k.key_id));
    expect(JSON.stringify(keys)).not.toContain('"d"');
    const space = await world().addSpace(`tenant-${agent.agent.id}`);
    const { token } = await world().addPerson('t@example.com', 'owner', space);
    expect(await status(desk('POST', '/desk/signing/rotate', {}, token))).toBe(403);
    await aCallerToken(world(), agent);
  });
});
