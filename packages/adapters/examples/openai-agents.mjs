// The OpenAI Agents SDK: node examples/openai-agents.mjs, then decide on the desk.
import { runWithPerson } from '@lanternroom/adapters/openai-agents';
import { Agent, setTracingDisabled, tool, Usage } from '@openai/agents';
import { z } from 'zod';
import { wakeFor } from './wake.mjs';

setTracingDisabled(true);

const refund = tool({
  name: 'refund',
  description: 'Pays money back to a customer.',
  parameters: z.object({ order: z.string(), amount: z.number() }),
  needsApproval: true,
  execute: async ({ order, amount }) => `Refunded ${amount} for ${order}.`,
});

// A model name goes here; this one is scripted, so that the example runs without a key.
const model = {
  async getResponse({ input }) {
    const result = Array.isArray(input)
      ? input.find(({ type }) => type === 'function_call_result')
      : undefined;
    const call = { type: 'function_call', callId: 'call_1', name: 'refund', status: 'completed' };
    const text = `The tool said: ${result?.output.text ?? result?.output}`;
    const output = result
      ? { type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text }] }
      : { ...call, arguments: JSON.stringify({ order: 'A-17', amount: 40 }) };
    return { usage: new Usage(), output: [output] };
  },
};

const agent = new Agent({ name: 'clerk', model, tools: [refund] });
const runId = process.env.RUN_ID ?? crypto.randomUUID();
const result = await runWithPerson(agent, 'Refund order A-17.', { wake: wakeFor('openai'), runId });
console.log(result.finalOutput);
