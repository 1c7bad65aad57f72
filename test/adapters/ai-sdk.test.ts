import { answerApprovals, generateWithPerson } from '@lanternroom/adapters/ai-sdk';
import type { ModelMessage } from 'ai';
import * as six from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import * as seven from 'ai-7';
import { MockLanguageModelV4 } from 'ai-7/test';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { approve, reject, sharedRooms } from './room.ts';

const openRoom = sharedRooms();

// Each major version with a model of its own age. What is used here has the same shape in both.
const VERSIONS = [
  { version: 6, sdk: six, Model: MockLanguageModelV3 },
  {
    version: 7,
    sdk: seven as unknown as typeof six,
    Model: MockLanguageModelV4 as unknown as typeof MockLanguageModelV3,
  },
];

type Args = { order: string; amount: number };
const A = { order: 'A-17', amount: 40 };
const B = { order: 'B-2', amount: 900 };
const ASKED: ModelMessage[] = [{ role: 'user', content: 'Refund it.' }];

const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

type Step = readonly (readonly [id: string, args: Args, tool?: 'look'])[];

/** Tools that write down when they are entered, and a model that calls them step by step and then says that it is done. */
function worldOf({ sdk, Model }: (typeof VERSIONS)[number], steps: readonly Step[], secret?: string) {
  const entered: Args[] = [];
  const refund = sdk.tool({
    description: 'Pays money back.',
    inputSchema: z.object({ order: z.string(), amount: z.number() }),
    needsApproval: true,
    execute: async (args: Args) => {
      entered.push(args);
      return `Refunded ${args.order}.`;
    },
  });
  const look = sdk.tool({
    description: 'Looks an order up.',
    inputSchema: z.object({ order: z.string(), amount: z.number() }),
    execute: async ({ order }: Args) => `Saw ${order}.`,
  });
  let turns = 0;
  const model = new Model({
    doGenerate: async () => {
      const calls = steps[turns];
      turns += 1;
      return {
        content: calls?.map(([toolCallId, args, toolName = 'refund']) => ({
          type: 'tool-call' as const,
          toolCallId,
          toolName,
          input: JSON.stringify(args),
        })) ?? [{ type: 'text' as const, text: 'Done.' }],
        finishReason: { unified: calls ? ('tool-calls' as const) : ('stop' as const), raw: undefined },
        usage: USAGE,
        warnings: [],
      };
    },
  });
  const signed = secret === undefined ? {} : { experimental_toolApprovalSecret: secret };
  const generate = (messages: ModelMessage[]) =>
    sdk.generateText({ model, tools: { refund, look }, messages, stopWhen: sdk.stepCountIs(5), ...signed });
  const shown = () => JSON.stringify(model.doGenerateCalls.at(-1)?.prompt);
  return { generate, entered, shown };
}

describe.each(VERSIONS)('with version $version', (version) => {
  it('[W23] an approved call runs once', async () => {
    const room = await openRoom();
    const { generate, entered } = worldOf(version, [[['c1', A]]]);
    const running = generateWithPerson(generate, ASKED, { wake: room.wake });
    await room.person(1, ({ tool: name, args }) => {
      expect({ name, args }).toEqual({ name: 'refund', args: A });
      return approve();
    });
    expect((await running).text).toBe('Done.');
    expect(entered).toEqual([A]);
  });

  it('[W23] the body of a rejected tool is never entered, and the model reads why', async () => {
    const room = await openRoom();
    const { generate, entered, shown } = worldOf(version, [[['c1', A]]]);
    const running = generateWithPerson(generate, ASKED, { wake: room.wake });
    await room.person(1, reject);
    await running;
    expect(entered).toEqual([]);
    expect(shown()).toContain('Not this customer.');
  });

  it('[W23] edited arguments are what the tool receives, and what the model sees it called', async () => {
    const room = await openRoom();
    const { generate, entered, shown } = worldOf(version, [[['c1', A]]]);
    const running = generateWithPerson(generate, ASKED, { wake: room.wake });
    const edited = { tool: 'refund', arguments: { order: 'A-17', amount: 20 } };
    await room.person(1, () => ({ status: 'redirected', edited_content: edited }));
    await running;
    expect(entered).toEqual([edited.arguments]);
    expect(shown()).not.toContain('40');
  });

  it('[W23] with an approval secret an approved call runs, and an edited one is proposed to the model instead', async () => {
    const room = await openRoom();
    const { generate, entered, shown } = worldOf(
      version,
      [
        [
          ['c1', A],
          ['c2', B],
        ],
      ],
      'a secret of the server',
    );
    const running = generateWithPerson(generate, ASKED, { wake: room.wake });
    await room.person(2, ({ args }) => {
      if ((args as Args).order === 'A-17') return approve();
      return {
        status: 'redirected',
        edited_content: { tool: 'refund', arguments: { order: 'B-2', amount: 9 } },
      };
    });
    await running;
    expect(entered).toEqual([A]);
    expect(shown()).toContain('Call it again with exactly that.');
  });

  it('[W23] edited arguments that the tool does not take run nothing', async () => {
    const room = await openRoom();
    const { generate, entered } = worldOf(version, [[['c1', A]]]);
    const running = generateWithPerson(generate, ASKED, { wake: room.wake });
    const edited = { tool: 'refund', arguments: { order: 'A-17', amount: 'a lot' } };
    await room.person(1, () => ({ status: 'redirected', edited_content: edited }));
    await running.catch(() => undefined);
    expect(entered).toEqual([]);
  });

  it('[W23] of a mixed batch what was approved runs, and nothing else', async () => {
    const room = await openRoom();
    const { generate, entered, shown } = worldOf(version, [
      [
        ['c1', A],
        ['c2', B],
      ],
    ]);
    const running = generateWithPerson(generate, ASKED, { wake: room.wake });
    await room.person(2, ({ args }) => ((args as Args).order === 'A-17' ? approve() : reject()));
    await running;
    expect(entered).toEqual([A]);
    expect(shown()).toContain('Refunded A-17.');
    expect(shown()).toContain('Not this customer.');
  });

  it('[W12] paused and stored as JSON, a conversation asks once and continues in another process', async () => {
    const room = await openRoom();
    const { generate, entered } = worldOf(version, [[['c1', A]]]);
    const first = await generate(ASKED);
    const kept = JSON.stringify([...ASKED, ...first.response.messages]);
    const look = (logFile?: string) =>
      answerApprovals(JSON.parse(kept), { wake: room.client(logFile), wait: false });
    expect(await look()).toEqual({ status: 'pending' });
    expect(await look(`${room.logFile}.lost`)).toEqual({ status: 'pending' });
    expect(await room.rows()).toHaveLength(1);
    await room.person(1, approve);
    const answered = await look();
    if (answered.status !== 'ready') throw new Error(answered.status);
    expect((await generate(answered.messages)).text).toBe('Done.');
    expect(entered).toEqual([A]);
    expect(await answerApprovals(answered.messages, { wake: room.wake })).toEqual({ status: 'none' });
    expect(await room.rows()).toHaveLength(1);
  });

  it('[W23] over several steps the model is shown everything that happened before', async () => {
    const room = await openRoom();
    const { generate, entered, shown } = worldOf(version, [
      [['c1', A, 'look']],
      [['c2', A]],
      [['c3', B, 'look']],
      [['c4', B]],
    ]);
    const running = generateWithPerson(generate, ASKED, { wake: room.wake });
    await room.person(1, approve);
    await room.person(1, approve);
    expect((await running).text).toBe('Done.');
    expect(entered).toEqual([A, B]);
    for (const said of ['Saw A-17.', 'Refunded A-17.', 'Saw B-2.', 'Refunded B-2.'])
      expect(shown()).toContain(said);
  });
});
