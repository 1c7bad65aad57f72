// LangChain and LangGraph: node examples/langgraph.mjs, then decide on the desk.

import { MemorySaver } from '@langchain/langgraph';
import { lanternMiddleware, runWithPerson } from '@lanternroom/adapters/langgraph';
import { AIMessage, createAgent, fakeModel, tool } from 'langchain';
import { z } from 'zod';
import { wakeFor } from './wake.mjs';

const refund = tool(({ order, amount }) => `Refunded ${amount} for ${order}.`, {
  name: 'refund',
  description: 'Pays money back to a customer.',
  schema: z.object({ order: z.string(), amount: z.number() }),
});

// Any chat model goes here; this one is scripted, so that the example runs without a key.
const model = fakeModel()
  .respondWithTools([{ name: 'refund', args: { order: 'A-17', amount: 40 }, id: 'call_1' }])
  .respond(new AIMessage('That is all.'));

const agent = createAgent({
  model,
  tools: [refund],
  middleware: [lanternMiddleware({ tools: ['refund'] })],
  checkpointer: new MemorySaver(), // a durable one, in production
});

const config = { configurable: { thread_id: process.env.THREAD_ID ?? crypto.randomUUID() } };
const asked = { messages: [{ role: 'user', content: 'Refund order A-17.' }] };
const result = await runWithPerson(agent.graph, asked, config, { wake: wakeFor('langgraph') });
for (const message of result.messages)
  if (message.text !== '') console.log(`${message.type}: ${message.text}`);
