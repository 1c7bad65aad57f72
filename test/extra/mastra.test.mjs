import assert from 'node:assert/strict';
import { test } from 'node:test';
import { overseen } from '@lanternroom/adapters/mastra';
import { A, approve, B, edit, framework, openRoom, reject } from './room.mjs';

const { Agent } = await framework('@mastra/core/agent');
const { createTool } = await framework('@mastra/core/tools');
const { z } = await framework('zod');

class ModelV2 {
  specificationVersion = 'v2';
  provider = 'test';
  modelId = 'scripted';
  supportedUrls = {};
  #calls;
  shown = [];
  constructor(calls) {
    this.#calls = calls;
  }
  #parts(prompt) {
    this.shown.push(prompt);
    const isOver = prompt.some(({ role }) => role === 'tool');
    const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
    const calls = this.#calls.map((args, index) => ({
      type: 'tool-call',
      toolCallId: `c${index}`,
      toolName: 'refund',
      input: JSON.stringify(args),
    }));
    return { isOver, usage, calls, finishReason: isOver ? 'stop' : 'tool-calls' };
  }
  async doGenerate({ prompt }) {
    const { isOver, usage, calls, finishReason } = this.#parts(prompt);
    return { content: isOver ? [{ type: 'text', text: 'Done.' }] : calls, finishReason, usage, warnings: [] };
  }
  async doStream({ prompt }) {
    const { isOver, usage, calls, finishReason } = this.#parts(prompt);
    const text = [
      { type: 'text-start', id: 't' },
      { type: 'text-delta', id: 't', delta: 'Done.' },
      { type: 'text-end', id: 't' },
    ];
    const parts = [
      { type: 'stream-start', warnings: [] },
      ...(isOver ? text : calls),
      { type: 'finish', finishReason, usage },
    ];
    return { stream: ReadableStream.from(parts) };
  }
}

async function runWith(t, decides, ...calls) {
  const { wake, person } = await openRoom(t);
  const entered = [];
  const refund = createTool({
    id: 'refund',
    description: 'Pays money back.',
    inputSchema: z.object({ order: z.string(), amount: z.number() }),
    execute: async ({ context, ...input }) => {
      const args = context ?? input;
      entered.push({ order: args.order, amount: args.amount });
      return { said: `Refunded ${args.order}.` };
    },
  });
  const model = new ModelV2(calls);
  const agent = new Agent({
    name: 'clerk',
    instructions: 'Refund.',
    model,
    tools: { refund: overseen(refund, { wake, threadId: 'run-1' }) },
  });
  const running = agent.generate('Refund.');
  await person(calls.length, decides);
  const { text } = await running;
  return { entered, text, shown: JSON.stringify(model.shown.at(-1)) };
}

test('an approved call runs once', async (t) => {
  const { entered, text } = await runWith(t, approve, A);
  assert.deepEqual(entered, [A]);
  assert.equal(text, 'Done.');
});

test('the body of a rejected tool is never entered, and the model reads why', async (t) => {
  const { entered, shown } = await runWith(t, reject, A);
  assert.deepEqual(entered, []);
  assert.match(shown, /Not this customer\./);
});

test('edited arguments are what the tool receives', async (t) => {
  const { entered } = await runWith(t, edit, A);
  assert.deepEqual(entered, [{ order: 'A-17', amount: 20 }]);
});

test('of a mixed batch what was approved runs, and nothing else', async (t) => {
  const { entered, shown } = await runWith(t, (args) => (args.order === 'A-17' ? approve() : reject()), A, B);
  assert.deepEqual(entered, [A]);
  assert.match(shown, /Not this customer\./);
});
