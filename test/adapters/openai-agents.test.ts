import { answerApprovals, openState, runWithPerson, sealState } from '@lanternroom/adapters/openai-agents';
import {
  Agent,
  type Model,
  type ModelResponse,
  RunState,
  run,
  setTracingDisabled,
  tool,
  Usage,
} from '@openai/agents';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { approve, type Room, reject, sharedRooms } from './room.ts';

const openRoom = sharedRooms();

setTracingDisabled(true);

type Args = { order: string; amount: number };
const A = { order: 'A-17', amount: 40 };
const B = { order: 'B-2', amount: 900 };
const SECRET = 'a secret of at least thirty-two characters';

/** A model that first asks for these tool calls, then says that it is done; it keeps its inputs. */
class ScriptedModel implements Model {
  readonly calls: readonly [string, object][];
  readonly name: string;
  readonly shown: unknown[] = [];

  constructor(calls: readonly [string, object][], name = 'refund') {
    this.calls = calls;
    this.name = name;
  }

  async getResponse(request: Parameters<Model['getResponse']>[0]): Promise<ModelResponse> {
    this.shown.push(request.input);
    const isFirst = this.shown.length === 1;
    const output: ModelResponse['output'] = isFirst
      ? this.calls.map(([callId, args]) => ({
          type: 'function_call' as const,
          callId,
          name: this.name,
          status: 'completed' as const,
          arguments: JSON.stringify(args),
        }))
      : [
          {
            type: 'message' as const,
            role: 'assistant' as const,
            status: 'completed' as const,
            content: [{ type: 'output_text' as const, text: 'Done.' }],
          },
        ];
    return { usage: new Usage(), output };
  }

  // biome-ignore lint/correctness/useYield: nothing here streams
  async *getStreamedResponse(): AsyncGenerator<never> {
    throw new Error('not streamed in these tests');
  }
}

function agentOf(...calls: [string, Args][]) {
  const entered: Args[] = [];
  const refund = tool({
    name: 'refund',
    description: 'Pays money back.',
    parameters: z.object({ order: z.string(), amount: z.number() }),
    needsApproval: true,
    execute: async (args) => {
      entered.push(args);
      return `Refunded ${args.order}.`;
    },
  });
  const model = new ScriptedModel(calls);
  return { agent: new Agent({ name: 'clerk', model, tools: [refund] }), entered, model };
}

const options = (room: Room) => ({ wake: room.wake, runId: 'run-1' });

it('[W23] an approved call runs once', async () => {
  const room = await openRoom();
  const { agent, entered } = agentOf(['c1', A]);
  const running = runWithPerson(agent, 'Refund A-17.', options(room));
  await room.person(1, ({ tool: name, args }) => {
    expect({ name, args }).toEqual({ name: 'refund', args: A });
    return approve();
  });
  expect((await running).finalOutput).toBe('Done.');
  expect(entered).toEqual([A]);
});

it('[W23] the body of a rejected tool is never entered, and the model reads why', async () => {
  const room = await openRoom();
  const { agent, entered, model } = agentOf(['c1', A]);
  const running = runWithPerson(agent, 'Refund A-17.', options(room));
  await room.person(1, reject);
  await running;
  expect(entered).toEqual([]);
  expect(JSON.stringify(model.shown.at(-1))).toContain('Not this customer.');
});

it('[W23] edited arguments are what the tool receives, and what the model sees it called', async () => {
  const room = await openRoom();
  const { agent, entered, model } = agentOf(['c1', A]);
  const running = runWithPerson(agent, 'Refund A-17.', options(room));
  const edited = { tool: 'refund', arguments: { order: 'A-17', amount: 20 } };
  await room.person(1, () => ({ status: 'redirected', edited_content: edited }));
  expect((await running).finalOutput).toBe('Done.');
  expect(entered).toEqual([edited.arguments]);
  expect(JSON.stringify(model.shown.at(-1))).not.toContain('40');
});

it('[W23] an agent that is a tool of another one is asked about too, and its edited call runs as edited', async () => {
  const room = await openRoom();
  const { agent: clerk, entered, model } = agentOf(['c1', A], ['c2', B]);
  const chief = new ScriptedModel([['c0', { input: 'Refund both.' }]], 'ask_clerk');
  const tools = [clerk.asTool({ toolName: 'ask_clerk', toolDescription: 'Asks the clerk.' })];
  const running = runWithPerson(
    new Agent({ name: 'chief', model: chief, tools }),
    'Refund both.',
    options(room),
  );
  const edited = { tool: 'refund', arguments: { order: 'A-17', amount: 20 } };
  await room.person(2, ({ args }) =>
    (args as Args).order === 'A-17' ? { status: 'redirected', edited_content: edited } : reject(),
  );
  expect((await running).finalOutput).toBe('Done.');
  expect(entered).toEqual([edited.arguments]);
  const shown = JSON.stringify(model.shown.at(-1));
  expect(shown).toContain('Not this customer.');
  expect(shown).not.toContain('40');
});

it('[W23] an instruction instead of arguments runs nothing', async () => {
  const room = await openRoom();
  const { agent, entered, model } = agentOf(['c1', A]);
  const running = runWithPerson(agent, 'Refund A-17.', options(room));
  await room.person(1, () => ({ status: 'redirected', feedback: 'Ask for the receipt first.' }));
  await running;
  expect(entered).toEqual([]);
  expect(JSON.stringify(model.shown.at(-1))).toContain('Ask for the receipt first.');
});

it('[W23] of a mixed batch what was approved runs, and nothing else', async () => {
  const room = await openRoom();
  const { agent, entered, model } = agentOf(['c1', A], ['c2', B]);
  const running = runWithPerson(agent, 'Refund both.', options(room));
  await room.person(2, ({ args }) => ((args as Args).order === 'A-17' ? approve() : reject()));
  await running;
  expect(entered).toEqual([A]);
  const shown = JSON.stringify(model.shown.at(-1));
  expect(shown).toContain('Refunded A-17.');
  expect(shown).toContain('Not this customer.');
});

it('[W12] paused with its state sealed, a run asks once and continues in another process', async () => {
  const room = await openRoom();
  const { agent, entered } = agentOf(['c1', A]);
  const seal = { secret: SECRET, runId: 'run-1' };
  const paused = await run(agent, 'Refund A-17.');
  const sealed = await sealState(paused.state, seal);
  const look = async (logFile?: string) => {
    const state = await openState(agent, sealed, seal);
    return answerApprovals(agent, state, { wake: room.client(logFile), runId: 'run-1', wait: false });
  };
  expect(await look()).toEqual({ status: 'pending' });
  expect(await look()).toEqual({ status: 'pending' });
  // As after a crash between delivering and writing that down.
  expect(await look(`${room.logFile}.lost`)).toEqual({ status: 'pending' });
  expect(await room.rows()).toHaveLength(1);
  await room.person(1, approve);
  const answered = await look();
  if (answered.status !== 'ready') throw new Error(answered.status);
  expect((await run(agent, answered.state)).finalOutput).toBe('Done.');
  expect(entered).toEqual([A]);
  expect(await room.rows()).toHaveLength(1);
});

it('[W23] a sealed state that was changed, or of another run, is refused', async () => {
  const { agent } = agentOf(['c1', A]);
  const { state } = await run(agent, 'Refund A-17.');
  const sealed = await sealState(state, { secret: SECRET, runId: 'run-1' });
  const open = (text: string, runId = 'run-1', secret = SECRET) => openState(agent, text, { secret, runId });
  await expect(open(sealed)).resolves.toBeInstanceOf(RunState);
  await expect(open(sealed.replaceAll('A-17', 'Z-99'))).rejects.toMatchObject({ fault: 'wrong_usage' });
  await expect(open(sealed, 'run-2')).rejects.toMatchObject({ fault: 'wrong_usage' });
  await expect(open(sealed, 'run-1', `${SECRET}!`)).rejects.toMatchObject({ fault: 'wrong_usage' });
  await expect(open(state.toString())).rejects.toMatchObject({ fault: 'wrong_usage' });
  await expect(sealState(state, { secret: 'short', runId: 'r' })).rejects.toThrow('32 characters');
});

it('[W23] the same call id in another run, or with other arguments, is another question', async () => {
  const room = await openRoom();
  const pausedWith = async (args: Args, runId: string) => {
    const { agent } = agentOf(['c1', args]);
    const { state } = await run(agent, 'Refund.');
    return answerApprovals(agent, state, { wake: room.wake, runId, wait: false });
  };
  await pausedWith(A, 'run-1');
  await room.person(1, approve);
  expect(await pausedWith(B, 'run-1')).toEqual({ status: 'pending' });
  expect(await pausedWith(A, 'run-2')).toEqual({ status: 'pending' });
  expect(await room.rows()).toHaveLength(3);
});

it('[W23] an edit keeps the live context of the run, also what JSON cannot hold', async () => {
  const room = await openRoom();
  const till = { pay: (amount: number) => `paid ${amount}` };
  const paid: string[] = [];
  const refund = tool({
    name: 'refund',
    description: 'Pays money back.',
    parameters: z.object({ order: z.string(), amount: z.number() }),
    needsApproval: true,
    execute: async ({ amount }, context) => {
      const { pay } = (context?.context ?? {}) as Partial<typeof till>;
      const said = pay?.(amount) ?? 'no till';
      paid.push(said);
      return said;
    },
  });
  const agent = new Agent({ name: 'clerk', model: new ScriptedModel([['c1', A]]), tools: [refund] });
  const { state } = await run(agent, 'Refund.', { context: till });
  const answering = answerApprovals(agent, state, options(room));
  await room.person(1, () => ({
    status: 'redirected',
    edited_content: { tool: 'refund', arguments: { order: 'A-17', amount: 20 } },
  }));
  const answered = await answering;
  if (answered.status !== 'ready') throw new Error(answered.status);
  await run(agent, answered.state);
  expect(paid).toEqual(['paid 20']);
});
