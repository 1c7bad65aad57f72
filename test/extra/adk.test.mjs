import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { lanternCallback } from '@lanternroom/adapters/adk';
import { A, approve, B, edit, framework, openRoom, reject } from './room.mjs';

const { BaseLlm, FunctionTool, InMemoryRunner, LlmAgent } = await framework('@google/adk');
const { z } = await framework('zod');

/** Runs an agent to its end; the person answers each call as it comes, for ADK asks one after the other. */
async function runWith(t, decides, ...calls) {
  const { wake, person } = await openRoom(t);
  const { entered, turn } = await sessionOf({ wake, tools: ['refund'] }, calls);
  const running = turn();
  for (const _ of calls) await person(1, decides);
  return { entered, said: await running };
}

/** An agent that calls the tool with each of these in every turn, under new ids, and then says that it is done. */
async function sessionOf(options, calls) {
  const entered = [];
  const refund = new FunctionTool({
    name: 'refund',
    description: 'Pays money back.',
    parameters: z.object({ order: z.string(), amount: z.number() }),
    execute: (args) => {
      entered.push(args);
      return `Refunded ${args.order}.`;
    },
  });
  class Scripted extends BaseLlm {
    async *generateContentAsync({ contents }) {
      const isOver = contents.at(-1).parts.some(({ functionResponse }) => functionResponse);
      const asked = calls.map((args) => ({
        functionCall: { id: randomUUID(), name: 'refund', args: { ...args } },
      }));
      yield { content: { role: 'model', parts: isOver ? [{ text: 'Done.' }] : asked } };
    }
  }
  const model = new Scripted({ model: 'scripted' });
  const beforeToolCallback = lanternCallback(options);
  const agent = new LlmAgent({ name: 'clerk', model, tools: [refund], beforeToolCallback });
  const runner = new InMemoryRunner({ agent, appName: 'test' });
  const session = await runner.sessionService.createSession({ appName: 'test', userId: 'u' });
  const turn = async () => {
    const said = [];
    const newMessage = { role: 'user', parts: [{ text: 'Refund.' }] };
    for await (const { content } of runner.runAsync({ userId: 'u', sessionId: session.id, newMessage }))
      said.push(content);
    return JSON.stringify(said);
  };
  return { entered, turn };
}

test('an approved call runs once', async (t) => {
  const { entered, said } = await runWith(t, approve, A);
  assert.deepEqual(entered, [A]);
  assert.match(said, /Done\./);
});

test('the body of a rejected tool is never entered, and the model reads why', async (t) => {
  const { entered, said } = await runWith(t, reject, A);
  assert.deepEqual(entered, []);
  assert.match(said, /Not this customer\./);
});

test('edited arguments are what the tool receives', async (t) => {
  const { entered } = await runWith(t, edit, A);
  assert.deepEqual(entered, [{ order: 'A-17', amount: 20 }]);
});

test('of a mixed batch what was approved runs, and nothing else', async (t) => {
  const { entered, said } = await runWith(t, (args) => (args.order === 'A-17' ? approve() : reject()), A, B);
  assert.deepEqual(entered, [A]);
  assert.match(said, /Not this customer\./);
});

test('without waiting, the call that is made again picks up the answer, and the one after it asks anew', async (t) => {
  const { wake, person } = await openRoom(t);
  const { entered, turn } = await sessionOf({ wake, tools: ['refund'], wait: false }, [A]);
  assert.match(await turn(), /Not run yet/);
  await person(1, approve);
  assert.doesNotMatch(await turn(), /Not run yet/);
  assert.deepEqual(entered, [A]);
  assert.match(await turn(), /Not run yet/);
  assert.deepEqual(entered, [A]);
});
