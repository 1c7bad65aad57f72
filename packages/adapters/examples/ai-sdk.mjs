// The Vercel AI SDK, 6 or 7: node examples/ai-sdk.mjs, then decide on the desk.
import { generateWithPerson } from '@lanternroom/adapters/ai-sdk';
import { generateText, stepCountIs, tool } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { z } from 'zod';
import { wakeFor } from './wake.mjs';

const refund = tool({
  description: 'Pays money back to a customer.',
  inputSchema: z.object({ order: z.string(), amount: z.number() }),
  needsApproval: true,
  execute: async ({ order, amount }) => `Refunded ${amount} for ${order}.`,
});

// Any model goes here; this one is scripted, so that the example runs without a key.
const model = new MockLanguageModelV3({
  doGenerate: async ({ prompt }) => {
    const result = prompt
      .findLast(({ role }) => role === 'tool')
      ?.content.find(({ type }) => type === 'tool-result');
    const input = JSON.stringify({ order: 'A-17', amount: 40 });
    const said = JSON.stringify(result?.output);
    return {
      content: result
        ? [{ type: 'text', text: `The tool said: ${said}` }]
        : [{ type: 'tool-call', toolCallId: 'call_1', toolName: 'refund', input }],
      finishReason: { unified: result ? 'stop' : 'tool-calls', raw: undefined },
      usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } },
      warnings: [],
    };
  },
});

const generate = (messages) => generateText({ model, tools: { refund }, messages, stopWhen: stepCountIs(5) });
const asked = [{ role: 'user', content: 'Refund order A-17.' }];
const result = await generateWithPerson(generate, asked, { wake: wakeFor('vercel-ai') });
console.log(result.text);
