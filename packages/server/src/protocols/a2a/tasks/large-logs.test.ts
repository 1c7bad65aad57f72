import { connect, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { revokeKeys } from '../../../core/agents/keys.ts';
import {
  aLaptop,
  anAgent,
  fresh,
  type RpcAnswer,
  SseReader,
  TestCaller,
  useWorld,
  v1Message,
  type Wire,
} from '../../../testing/a2a/a2a.ts';
import { type HubFrame, Laptop } from '../../../testing/a2a/laptop.ts';
import { anEvent, openInbox } from '../../../testing/akep/akep.ts';

const world = useWorld({ env: { LANTERNROOM_UNDO_SECONDS: '0' } });

const MEGABYTE = 'x'.repeat(1_000_000);
const LOG_HOLDS = 128 * 1024 * 1024;

async function stage() {
  const agent = await anAgent(world());
  return { agent, caller: new TestCaller(world(), agent, { version: '1.0' }) };
}

async function say(caller: TestCaller, text: string, over: Wire = {}): Promise<RpcAnswer> {
  const configuration = { returnImmediately: true, historyLength: 0 };
  return caller.call('SendMessage', { ...v1Message(text, over), configuration });
}

/** A task with so many megabytes of words in it. */
async function aLongTask(caller: TestCaller, megabytes: number): Promise<string> {
  const { result } = await say(caller, MEGABYTE);
  const taskId = (result.task as { id: string }).id;
  for (let n = 1; n < megabytes; n++) await say(caller, MEGABYTE, { taskId });
  return taskId;
}

/** As if so many megabytes less than a log holds had been said. */
async function fillUpTo(taskId: string, megabytesLeft: number): Promise<void> {
  const bytes = LOG_HOLDS - megabytesLeft * MEGABYTE.length;
  await world().sql('update tasks set log_bytes = ? where task_id = ?', bytes, taskId);
}

const words = (text: string) => ({ parts: [{ text }] });

const historyLength = ({ history = [] }: Wire) => JSON.stringify(history).length;

describe('a log has an end', () => {
  test('[A24] a caller is told to open a new task', async () => {
    const { caller } = await stage();
    const taskId = await aLongTask(caller, 1);
    await fillUpTo(taskId, 2.5);
    for (let n = 0; n < 2; n++) expect((await say(caller, MEGABYTE, { taskId })).error).toBeUndefined();
    const refused = await say(caller, MEGABYTE, { taskId });
    expect(refused.error).toMatchObject({ code: -32600, message: expect.stringContaining('128 MiB') });
    expect((await say(caller, 'a word', { taskId })).error).toBeUndefined();
  });

  test('[A24] an agent can say nothing more, but how it ended', async () => {
    const { agent, caller } = await stage();
    const laptop = await aLaptop(world(), agent);
    const { result } = await say(caller, 'Begin');
    const taskId = (result.task as { id: string }).id;
    const chunk = {
      type: 'artifact',
      taskId,
      append: true,
      artifact: { artifactId: 'a', parts: [{ text: MEGABYTE }] },
    };
    await fillUpTo(taskId, 2.5);
    for (let n = 0; n < 2; n++) expect(await laptop.say(chunk)).toMatchObject({ type: 'ack' });
    expect(await laptop.say(chunk)).toMatchObject({ type: 'error', code: 'too_large' });
    expect(await laptop.say({ type: 'status', taskId, message: words(MEGABYTE) })).toMatchObject({
      code: 'too_large',
    });
    expect(await laptop.say({ type: 'failed', taskId, message: words(MEGABYTE) })).toMatchObject({
      type: 'ack',
    });
  });
});

describe('what is long is told a little at a time', () => {
  test('[A24] a laptop that comes back gets every message, with as much of the history as fits', async () => {
    const { agent, caller } = await stage();
    const taskId = await aLongTask(caller, 6);
    for (const text of ['b'.repeat(100_000), 'c'.repeat(100_000), 'd'.repeat(100_000), 'end'])
      await say(caller, text, { taskId });
    const laptop = await aLaptop(world(), agent);
    const frames: HubFrame[] = [];
    while (frames.length < 10) {
      const frame = await laptop.next(({ type }) => type === 'task' || type === 'message');
      laptop.ack(frame);
      frames.push(frame);
    }
    expect(frames.map(historyLength).filter((length) => length > 300_000)).toEqual([]);
    const last = frames.at(-1) as unknown as { history: { parts: { text: string }[] }[] };
    expect(last.history.map(({ parts }) => parts[0]?.text[0])).toEqual(['c', 'd']);
  });

  test('[A24] a page of tasks ends early, and the next one continues', async () => {
    const { caller } = await stage();
    const all = [await aLongTask(caller, 5), await aLongTask(caller, 5), await aLongTask(caller, 5)];
    const found: string[] = [];
    let pageToken = '';
    do {
      const { result } = await caller.call('ListTasks', { pageSize: 3, historyLength: 0, pageToken });
      const tasks = result.tasks as { id: string }[];
      expect(tasks).toHaveLength(1);
      found.push(...tasks.map(({ id }) => id));
      pageToken = String(result.nextPageToken);
    } while (pageToken !== '');
    expect(found).toEqual(all.reverse());
  });

  test('[A10] a stream that is taken up from the beginning has everything, to the end', async () => {
    const { agent, caller } = await stage();
    const laptop = await aLaptop(world(), agent);
    const { result } = await say(caller, 'Begin');
    const { id } = result.task as { id: string };
    const sizes = [300_000, 300_000, ...Array.from({ length: 120 }, () => 10)];
    for (const size of sizes)
      await laptop.say({ type: 'status', taskId: id, message: words('y'.repeat(size)) });
    await laptop.say({ type: 'completed', taskId: id });
    const events = await SseReader.open(caller.stream('SubscribeToTask', { id }, { 'last-event-id': '1' }));
    const all = await events.rest();
    expect(all.map((event) => event.id)).toEqual(
      Array.from({ length: sizes.length + 1 }, (_, i) => String(i + 2)),
    );
  });

  test('[A24] a question from a long task has its words on the desk and the rest in the task', async () => {
    const { agent, caller } = await stage();
    const laptop = await aLaptop(world(), agent);
    const taskId = await aLongTask(caller, 2);
    await laptop.say({
      type: 'artifact',
      taskId,
      artifact: { artifactId: 'plan', parts: [{ text: '# Plan' }] },
    });
    await laptop.say({ type: 'input_required', taskId, text: 'May I?' });
    const { deliveries } = (await (await world().desk('GET', '/desk/deliveries?limit=200')).json()) as {
      deliveries: { task_id: string; delivery_id: string }[];
    };
    const asked = deliveries.find((row) => row.task_id === taskId);
    const { details } = (await (
      await world().desk('GET', `/desk/deliveries/${asked?.delivery_id}`)
    ).json()) as {
      details: Wire;
    };
    expect(details).toMatchObject({ question: 'May I?', artifacts_left_out: true });
    expect(details).not.toHaveProperty('artifacts');
  });

  test('[A13] an event after many large acknowledged ones does not wait for another acknowledgement', async () => {
    const { world: own, sender } = await openInbox();
    const send = async (content: string) => {
      const event = anEvent();
      await sender.send({ ...event, knowledge: { ...event.knowledge, content } });
      return event.event_id;
    };
    const first = await send('first');
    const large: string[] = [];
    for (let n = 0; n < 10; n++) large.push(await send(MEGABYTE));
    const last = await send('last');
    for (const id of large) await own.post(`/akep/events/${id}/ack`, { status: 'stored' }, own.agent.key);
    const laptop = await Laptop.connect(own.url, own.agent.key, { query: '?events=1' });
    onTestFinished(() => laptop.vanish());
    const idOf = async () => ((await laptop.ofType('event')).event as Wire).event_id;
    expect([await idOf(), await idOf()]).toEqual([first, last]);
  });
});

/** Asks for a task, and reads what comes only when it is told to. */
function askWithoutReading(caller: TestCaller, key: string, id: string): Socket {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id } });
  const { hostname, port } = new URL(world().url);
  const socket = connect(Number(port), hostname);
  const head = [
    `POST ${caller.path} HTTP/1.1`,
    'host: localhost',
    `authorization: Bearer ${key}`,
    'content-type: application/json',
    'a2a-version: 1.0',
    `content-length: ${body.length}`,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  return socket;
}

function lookWithoutReading(path: string): Socket {
  const { hostname, port } = new URL(world().url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${world().token}\r\n\r\n`);
  return socket;
}

/** The beginning of an answer, and no more of it. */
const statusOf = (socket: Socket) =>
  new Promise<string>((resolve) => {
    socket.once('data', (bytes) => {
      socket.pause();
      resolve(String(bytes).split('\r\n', 1)[0] ?? '');
    });
  });

describe('large answers that nobody reads', () => {
  test('[W29] a caller has four under way, and the next one when one was read or given up', async () => {
    const { agent, caller } = await stage();
    const id = await aLongTask(caller, 12);
    const sockets = Array.from({ length: 4 }, () => askWithoutReading(caller, agent.key, id));
    await Promise.all(sockets.map(statusOf));
    let isAnswered = false;
    const fifth = askWithoutReading(caller, agent.key, id);
    const beginning = statusOf(fifth).then((status) => {
      isAnswered = true;
      return status;
    });
    // Others are answered meanwhile, and so is the same caller with what is small.
    const small = await say(caller, 'Something else');
    const other = await stage();
    await aLongTask(other.caller, 1);
    expect(small.error).toBeUndefined();
    expect(isAnswered).toBe(false);
    sockets[0]?.resume();
    expect(await beginning).toBe('HTTP/1.1 200 OK');
  });

  test('[W28] a caller who waited for that is identified again', async () => {
    const { agent, caller } = await stage();
    const id = await aLongTask(caller, 12);
    const sockets = Array.from({ length: 4 }, () => askWithoutReading(caller, agent.key, id));
    await Promise.all(sockets.map(statusOf));
    const late = askWithoutReading(caller, agent.key, id);
    const beginning = statusOf(late);
    await fetch(`${world().url}/healthz`);
    await revokeKeys(world().room, { space: world().space.id, agent: agent.agent.id }, 'a test');
    for (const socket of sockets) socket.destroy();
    expect(await beginning).toBe('HTTP/1.1 401 Unauthorized');
  });

  test('[W29] a log that is read for the name of a file waits for its turn, and so does a page at the desk', async () => {
    const { agent, caller } = await stage();
    const laptop = await aLaptop(world(), agent);
    const id = await aLongTask(caller, 12);
    const raw = Buffer.alloc(300_000).toString('base64');
    const artifact = { artifactId: 'a', parts: [{ raw, filename: 'zeros.bin' }] };
    expect(await laptop.say({ type: 'artifact', taskId: id, artifact })).toMatchObject({ type: 'ack' });
    const { result } = await caller.call('GetTask', { id });
    const artifacts = result.artifacts as { parts: { url: string }[] }[];
    const file = new URL(artifacts[0]?.parts[0]?.url ?? '').pathname;
    const key = agent.key;
    const desk = `/desk/tasks/${id}`;
    for (const [who, waiting, others] of [
      [key, file, () => askWithoutReading(caller, key, id)],
      [world().token, `${desk}/content/${file.split('/').at(-1)}`, () => lookWithoutReading(desk)],
      [world().token, desk, () => lookWithoutReading(desk)],
    ] as const) {
      const sockets = [others(), others(), others(), others()];
      await Promise.all(sockets.map(statusOf));
      let isAnswered = false;
      const answer = world()
        .get(waiting, who)
        .then(async (reply) => {
          isAnswered = true;
          return [reply.status, (await reply.arrayBuffer()).byteLength > 299_999];
        });
      for (let n = 0; n < 20; n++) await world().get('/wake/v1/deliveries');
      expect(isAnswered).toBe(false);
      for (const socket of sockets) socket.destroy();
      expect(await answer).toEqual([200, true]);
    }
  });

  test('[W29] pages of an inbox are as large', async () => {
    const { world: own, sender } = await openInbox();
    for (let n = 0; n < 8; n++) {
      const event = anEvent();
      await sender.send({ ...event, knowledge: { ...event.knowledge, content: MEGABYTE } });
    }
    const { hostname, port } = new URL(own.url);
    const ask = () => {
      const socket = connect(Number(port), hostname);
      onTestFinished(() => void socket.destroy());
      socket.write(
        `GET /akep/events HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${own.agent.key}\r\n\r\n`,
      );
      return socket;
    };
    const sockets = [ask(), ask(), ask(), ask()];
    await Promise.all(sockets.map(statusOf));
    let isAnswered = false;
    const beginning = statusOf(ask()).then(() => {
      isAnswered = true;
    });
    for (let n = 0; n < 20; n++) await own.get('/wake/v1/deliveries');
    expect(isAnswered).toBe(false);
    sockets[2]?.destroy();
    await beginning;
  });
});

test('[A8] the same message again is the same task, however long that is', async () => {
  const { caller } = await stage();
  const id = await aLongTask(caller, 2);
  const message = { taskId: id, messageId: fresh() };
  const first = await say(caller, 'again', message);
  expect((await say(caller, 'again', message)).result).toEqual(first.result);
});
