import { expect, onTestFinished, test, vi } from 'vitest';
import {
  aLaptop,
  aStage,
  SseReader,
  seedMessage,
  TestCaller,
  useWorld,
  v1Message,
  v03Message,
  type Wire,
} from '../../../testing/a2a/a2a.ts';
import { Laptop } from '../../../testing/a2a/laptop.ts';
import { scripted } from '../../../testing/a2a/scripted-agent.ts';
import { World } from '../../../testing/world.ts';

const world = useWorld();

const stage = () => aStage(world());

const result = (data: Wire | undefined) => data?.result as Wire;

test('[A10] every event has its place in the log as its id, and a stream ends with the task', async () => {
  const { agent, v1 } = await stage();
  await aLaptop(world(), agent, scripted);
  const events = await (
    await SseReader.open(v1.stream('SendStreamingMessage', v1Message('artifacts')))
  ).rest();
  expect(events.map(({ id }) => id)).toEqual(['1', '2', '3', '4', '5', '6']);
  expect(events.map(({ data }) => Object.keys(result(data))[0])).toEqual([
    'task',
    'statusUpdate',
    'artifactUpdate',
    'artifactUpdate',
    'artifactUpdate',
    'statusUpdate',
  ]);
  expect(result(events[3]?.data).artifactUpdate).toMatchObject({ append: true, lastChunk: true });
});

test('[A10] over HTTP+JSON the events are bare', async () => {
  const { agent, v1 } = await stage();
  await aLaptop(world(), agent, scripted);
  const events = await (await SseReader.open(v1.rest('POST', '/message:stream', v1Message('hello')))).rest();
  expect(events.map(({ data }) => Object.keys(data))).toEqual([['task'], ['statusUpdate']]);
});

test('[A10] a stream ends with a question too, and the next message goes on from there', async () => {
  const { agent, v03 } = await stage();
  await aLaptop(world(), agent, scripted);
  const asked = await (await SseReader.open(v03.stream('message/stream', seedMessage('ask')))).rest();
  expect(result(asked.at(-1)?.data)).toMatchObject({ final: true, status: { state: 'input_required' } });
  const taskId = result(asked[0]?.data).id;
  const answered = await (
    await SseReader.open(v03.stream('message/stream', seedMessage('red', { taskId })))
  ).rest();
  expect(answered.map(({ data }) => (result(data).status as Wire).state)).toEqual([
    'input_required',
    'working',
    'completed',
  ]);
});

test('[A10] an agent that is asleep: the stream begins at once and waits', async () => {
  const { agent, v03 } = await stage();
  const reader = await SseReader.open(v03.stream('message/stream', v03Message('wake up')));
  const first = await reader.next();
  expect(result(first?.data)).toMatchObject({ kind: 'task', status: { state: 'submitted' } });
  await aLaptop(world(), agent, scripted);
  expect((await reader.rest()).map(({ data }) => result(data).final)).toEqual([true]);
});

test('[A10] a stream in which nothing happens can be heard every few seconds, and never as an event without data', async () => {
  const { agent, v1 } = await stage();
  vi.useFakeTimers({ toFake: ['setInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const reply = await v1.stream('SendStreamingMessage', v1Message('wake up'));
  vi.advanceTimersByTime(4_000);
  await aLaptop(world(), agent, scripted);
  const text = await reply.text();
  expect(text).toMatch(/"task".*^:$.*"statusUpdate"/ms);
  const blocks = text.split('\n\n').slice(0, -1);
  expect(blocks).toHaveLength(2);
  for (const block of blocks) expect(block).toMatch(/^data: \{/m);
});

test('[A10] a caller that goes away changes nothing for the task', async () => {
  const { agent, v03 } = await stage();
  const laptop = await aLaptop(world(), agent);
  const reader = await SseReader.open(v03.stream('message/stream', v03Message('x')));
  const { taskId } = await laptop.ofType('task');
  await laptop.say({ type: 'accepted', taskId });
  await reader.next();
  await reader.leave();
  await laptop.say({ type: 'status', taskId, text: 'half way' });
  await laptop.say({ type: 'completed', taskId, text: 'Done.' });
  const { result: task } = await v03.call('tasks/get', { id: taskId });
  expect(task.status.state).toBe('completed');
  expect(task.history).toHaveLength(3);
});

test('[A10] Last-Event-ID brings the rest, once, also after the task has ended', async () => {
  const { agent, v03, v1 } = await stage();
  await aLaptop(world(), agent, scripted);
  const events = await (await SseReader.open(v03.stream('message/stream', v03Message('artifacts')))).rest();
  const id = result(events[0]?.data).id;
  for (const seen of [1, 3, 5]) {
    const reader = await SseReader.open(
      v03.stream('tasks/resubscribe', { id }, { 'last-event-id': String(seen) }),
    );
    expect(await reader.rest()).toEqual(events.slice(seen));
  }
  const all = await SseReader.open(v1.stream('SubscribeToTask', { id }, { 'last-event-id': '6' }));
  expect(await all.rest()).toEqual([]);
  const rest = await SseReader.open(
    v1.rest('GET', `/tasks/${id}:subscribe`, undefined, { 'last-event-id': '5' }),
  );
  expect((await rest.rest()).map(({ id: place }) => place)).toEqual(['6']);
});

test('[A10] a Last-Event-ID that nobody has given out is refused', async () => {
  const { v1 } = await stage();
  const sent = await v1.call('SendMessage', v1Message('x'));
  const { id } = sent.result.task as { id: string };
  const reply = await v1.call('SubscribeToTask', { id }, { 'last-event-id': 'yesterday' });
  expect(reply.error.code).toBe(-32602);
});

test('[A10] without Last-Event-ID a finished task answers as the version says', async () => {
  const { agent, v03, v1 } = await stage();
  await aLaptop(world(), agent, scripted);
  const { result: task } = await v03.call('message/send', v03Message('hello'));
  const ended = await v1.call('SubscribeToTask', { id: task.id });
  expect(ended.error.code).toBe(-32004);
  const replayed = await (await SseReader.open(v03.stream('tasks/resubscribe', { id: task.id }))).rest();
  expect(replayed.map(({ data }) => result(data).kind)).toEqual(['task']);
  const unknown = await (await SseReader.open(v03.stream('tasks/resubscribe', { id: 'nobody' }))).rest();
  expect(unknown.map(({ data }) => (data.error as Wire).code)).toEqual([-32001]);
});

test('[A10] two streams of one task get the same events', async () => {
  const { agent, v03, v1 } = await stage();
  const laptop = await aLaptop(world(), agent);
  const first = await SseReader.open(v03.stream('message/stream', v03Message('x')));
  const { taskId } = await laptop.ofType('task');
  await laptop.say({ type: 'accepted', taskId });
  await first.next();
  const second = await SseReader.open(v1.rest('POST', `/tasks/${taskId}:subscribe`, {}));
  expect((await second.next())?.data).toHaveProperty('task');
  await laptop.say({ type: 'status', taskId, text: 'half way' });
  await laptop.say({ type: 'completed', taskId });
  expect((await first.rest()).map(({ id }) => id)).toEqual(['2', '3', '4']);
  expect((await second.rest()).map(({ id }) => id)).toEqual(['3', '4']);
});

test('[A10] a stream that a restart has ended is taken up where it was', async () => {
  const own = await World.open();
  onTestFinished(() => own.stop());
  const caller = new TestCaller(own, own.agent);
  const reader = await SseReader.open(caller.stream('message/stream', v03Message('x')));
  const first = await reader.next();
  const id = result(first?.data).id;
  await own.restart();
  expect(await reader.next()).toBeNull();
  const laptop = await Laptop.connect(own.url, own.agent.key);
  onTestFinished(() => laptop.vanish());
  await laptop.say({ type: 'completed', taskId: id, text: 'after the restart' });
  const rest = await SseReader.open(
    caller.stream('tasks/resubscribe', { id }, { 'last-event-id': first?.id ?? '' }),
  );
  expect((await rest.rest()).map(({ data }) => (result(data).status as Wire).state)).toEqual(['completed']);
});
