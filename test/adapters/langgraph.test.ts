import { Annotation, END, interrupt, MemorySaver, START, StateGraph } from '@langchain/langgraph';
import {
  answerInterrupts,
  askPerson,
  lanternMiddleware,
  runWithPerson,
} from '@lanternroom/adapters/langgraph';
import { AIMessage, createAgent, fakeModel, humanInTheLoopMiddleware, tool } from 'langchain';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { until } from '../support/until.ts';
import { approve, reject, sharedRooms } from './room.ts';

const openRoom = sharedRooms();

const CONFIG = { configurable: { thread_id: 'thread-1' } };
const INPUT = { messages: [{ role: 'user', content: 'Refund both orders.' }] };

type Args = { order: string; amount: number };
const call = (id: string, args: Args) => ({ name: 'refund', args, id });
type Middleware = ReturnType<typeof lanternMiddleware>[];
const A = { order: 'A-17', amount: 40 };
const B = { order: 'B-2', amount: 900 };

/** An agent with one tool that writes down every time its body is entered. */
function agentOf(calls: ReturnType<typeof call>[], middleware: Middleware) {
  const entered: Args[] = [];
  let dies = false;
  const refund = tool(
    async (args: Args) => {
      entered.push(args);
      // As far as anybody else can see, a process that was killed.
      if (dies) await new Promise(() => undefined);
      return `Refunded ${args.order}.`;
    },
    {
      name: 'refund',
      description: 'Pays money back.',
      schema: z.object({ order: z.string(), amount: z.number() }),
    },
  );
  const model = fakeModel().respondWithTools(calls).respond(new AIMessage('Done.'));
  const checkpointer = new MemorySaver();
  const agent = createAgent({ model, tools: [refund], middleware, checkpointer });
  const die = (now: boolean) => {
    dies = now;
  };
  return { graph: agent.graph, entered, die };
}

const ours: Middleware = [lanternMiddleware({ tools: ['refund'] })];
// LangChain's types do not take their own options under exactOptionalPropertyTypes.
const theirs = [
  humanInTheLoopMiddleware({ interruptOn: { refund: true } } as never),
] as unknown as Middleware;
const said = (result: { messages: { content: unknown; type?: string }[] }) =>
  result.messages.map(({ content }) => String(content));

describe.each([
  ['lanternMiddleware', ours],
  ['humanInTheLoopMiddleware', theirs],
])('LangChain with %s', (_, middleware) => {
  it('[W23] an approved call runs once, with what the person has seen', async () => {
    const room = await openRoom();
    const { graph, entered } = agentOf([call('c1', A)], middleware);
    const running = runWithPerson(graph, INPUT, CONFIG, room);
    await room.person(1, ({ tool: name, args }) => {
      expect({ name, args }).toEqual({ name: 'refund', args: A });
      return approve();
    });
    expect(said(await running).at(-1)).toBe('Done.');
    expect(entered).toEqual([A]);
    expect(await room.rows()).toHaveLength(1);
  });

  it('[W23] the body of a rejected tool is never entered, and the model reads why', async () => {
    const room = await openRoom();
    const { graph, entered } = agentOf([call('c1', A)], middleware);
    const running = runWithPerson(graph, INPUT, CONFIG, room);
    await room.person(1, reject);
    expect(said(await running).join('\n')).toContain('Not this customer.');
    expect(entered).toEqual([]);
  });

  it('[W23] edited arguments are what the tool receives', async () => {
    const room = await openRoom();
    const { graph, entered } = agentOf([call('c1', A)], middleware);
    const running = runWithPerson(graph, INPUT, CONFIG, room);
    const edited = { tool: 'refund', arguments: { order: 'A-17', amount: 20 } };
    await room.person(1, () => ({ status: 'redirected', edited_content: edited }));
    await running;
    expect(entered).toEqual([edited.arguments]);
  });

  it('[W23] an instruction instead of arguments runs nothing', async () => {
    const room = await openRoom();
    const { graph, entered } = agentOf([call('c1', A)], middleware);
    const running = runWithPerson(graph, INPUT, CONFIG, room);
    await room.person(1, () => ({ status: 'redirected', feedback: 'Ask for the receipt first.' }));
    expect(said(await running).join('\n')).toContain('Ask for the receipt first.');
    expect(entered).toEqual([]);
  });

  it('[W12] paused and looked at again, also by a new process, a call is asked once and resumes from the answer', async () => {
    const room = await openRoom();
    const { graph, entered } = agentOf([call('c1', A)], middleware);
    await graph.invoke(INPUT, CONFIG);
    const look = () => answerInterrupts(graph, CONFIG, { wake: room.client(), wait: false });
    expect(await look()).toEqual({ status: 'pending' });
    // As after a crash between delivering and writing that down: the server knows, the log does not.
    expect(
      await answerInterrupts(graph, CONFIG, { wake: room.client(`${room.logFile}.lost`), wait: false }),
    ).toEqual({ status: 'pending' });
    expect(await room.rows()).toHaveLength(1);
    await room.person(1, approve);
    expect(await look()).toMatchObject({ status: 'ready' });
    expect(entered).toEqual([]);
    expect(said(await runWithPerson(graph, null, CONFIG, { wake: room.client() })).at(-1)).toBe('Done.');
    expect(entered).toEqual([A]);
    expect(await look()).toEqual({ status: 'none' });
    expect(await room.rows()).toHaveLength(1);
  });

  it('[W23] a signal ends the wait and leaves the question', async () => {
    const room = await openRoom();
    const { graph, entered } = agentOf([call('c1', A)], middleware);
    const stop = new AbortController();
    const running = runWithPerson(graph, INPUT, CONFIG, { wake: room.wake, signal: stop.signal });
    const ended = expect(running).rejects.toMatchObject({ fault: 'aborted' });
    await room.person(0, approve);
    while ((await room.open()).length === 0) await graph.getState(CONFIG);
    stop.abort();
    await ended;
    expect(await room.open()).toHaveLength(1);
    expect(entered).toEqual([]);
  });
});

const mixed = ({ args }: { args: unknown }) => ((args as Args).order === 'A-17' ? approve() : reject());

it('[W23] of a mixed batch lanternMiddleware runs what was approved and nothing else', async () => {
  const room = await openRoom();
  const { graph, entered } = agentOf([call('c1', A), call('c2', B)], ours);
  const running = runWithPerson(graph, INPUT, CONFIG, room);
  await room.person(2, mixed);
  const texts = said(await running);
  expect(entered).toEqual([A]);
  expect(texts).toContain('Refunded A-17.');
  expect(texts.join('\n')).toContain('Not this customer.');
  expect(await room.rows()).toHaveLength(2);
});

it('[W23] of a mixed batch humanInTheLoopMiddleware runs nothing, and the person is told what was dropped', async () => {
  const room = await openRoom();
  const { graph, entered } = agentOf([call('c1', A), call('c2', B)], theirs);
  const running = runWithPerson(graph, INPUT, CONFIG, room);
  await room.person(2, mixed);
  expect(said(await running).join('\n')).toContain(
    'Approved, but not run because of this: refund(order: "A-17", amount: 40)',
  );
  expect(entered).toEqual([]);
  const told = (await room.rows()).filter(({ type }) => type === 'update');
  expect(told.map(({ headline }) => headline)).toEqual(['Not run although approved: refund']);
});

it('[W23] a graph that is resumed with anything but a verdict runs nothing', async () => {
  const { graph, entered } = agentOf([call('c1', A)], ours);
  const { Command } = await import('@langchain/langgraph');
  await graph.invoke(INPUT, CONFIG);
  await graph.invoke(new Command({ resume: true }), CONFIG);
  expect(entered).toEqual([]);
});

it('[W23] a node asks with askPerson, also in a thread with a name longer than the desk can group by', async () => {
  const room = await openRoom();
  const config = { configurable: { thread_id: 't'.repeat(200) } };
  const State = Annotation.Root({ answer: Annotation<string> });
  const graph = new StateGraph(State)
    .addNode('ask', () => ({
      answer: askPerson({ type: 'question', headline: 'Draft is ready', summary: 'May I send it?' }).status,
    }))
    .addEdge(START, 'ask')
    .addEdge('ask', END)
    .compile({ checkpointer: new MemorySaver() });
  const running = runWithPerson(graph, { answer: '' }, config, room);
  await room.person(1, ({ row }) => {
    expect(row.headline).toBe('Draft is ready');
    return approve();
  });
  expect((await running).answer).toBe('approved');
});

it('[W12] a tool that dies behind its approval runs again in a new process, and nobody is asked again', async () => {
  const room = await openRoom();
  const { graph, entered, die } = agentOf([call('c1', A)], ours);
  die(true);
  void runWithPerson(graph, INPUT, CONFIG, room);
  await room.person(1, approve);
  await until('the tool is entered', () => entered.length === 1);
  die(false);
  await runWithPerson(graph, null, CONFIG, { wake: room.client() });
  expect(entered).toEqual([A, A]);
  expect(await room.rows()).toHaveLength(1);
});

const Answered = Annotation.Root({ answer: Annotation<string> });

/** Asks the same until the person agrees. */
const insist = () => {
  for (;;) if (interrupt({ question: 'Ship it?' }).status === 'approved') return { answer: 'shipped' };
};
const inner = new StateGraph(Answered).addNode('insist', insist).addEdge(START, 'insist').compile();

it.each([
  ['a node', insist],
  ['a subgraph', inner],
  ['a subgraph that a node calls', (state: typeof Answered.State) => inner.invoke(state)],
])('[W23] %s that asks the same again gets an answer of its own each time', async (_, node) => {
  const room = await openRoom();
  const graph = new StateGraph(Answered)
    .addNode('ask', node)
    .addEdge(START, 'ask')
    .compile({ checkpointer: new MemorySaver() });
  await graph.invoke({ answer: '' }, CONFIG);
  // Each time by a new process: what was answered before is in the checkpoint and in nobody's memory.
  const look = () => answerInterrupts(graph, CONFIG, { wake: room.client(), wait: false });
  for (const answer of [reject, reject, approve]) {
    expect(await look()).toEqual({ status: 'pending' });
    expect(await room.open()).toHaveLength(1);
    await room.person(1, answer);
    const answered = await look();
    if (answered.status !== 'ready') throw new Error(`it is ${answered.status}`);
    await graph.invoke(answered.resume, CONFIG);
  }
  expect(await look()).toEqual({ status: 'none' });
  expect((await graph.getState(CONFIG)).values.answer).toBe('shipped');
  expect(await room.rows()).toHaveLength(3);
});

it('[W12] a node that fails after its answer continues with that answer', async () => {
  const room = await openRoom();
  let fails = true;
  const graph = new StateGraph(Answered)
    .addNode('ask', () => {
      const { status } = interrupt({ question: 'Ship it?' });
      if (fails) throw new Error('the post office is closed');
      return { answer: status };
    })
    .addEdge(START, 'ask')
    .compile({ checkpointer: new MemorySaver() });
  const running = expect(runWithPerson(graph, { answer: '' }, CONFIG, room)).rejects.toThrow('post office');
  await room.person(1, approve);
  await running;
  fails = false;
  const { answer } = await runWithPerson(graph, null, CONFIG, { wake: room.client() });
  expect(answer).toBe('approved');
  expect(await room.rows()).toHaveLength(1);
});
