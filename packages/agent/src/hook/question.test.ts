import { expect, it } from 'vitest';
import type { ToolCall } from './call.ts';
import { HOSTS } from './hosts.ts';
import { toQuestion } from './question.ts';

const CALL: ToolCall = {
  tool: 'Bash',
  input: { command: 'rm -rf build' },
  session: 'session-1',
  id: 'toolu_1',
  cwd: '/home/me/shop',
};

it('[W23] a question names the session and the call that it is about', () => {
  expect(toQuestion(CALL, HOSTS.claude)).toMatchObject({
    type: 'question',
    details: { tool: 'Bash', input: { command: 'rm -rf build' } },
    threadId: 'session-1',
    interruptId: 'toolu_1',
  });
});

it.each([
  ['a call without an id', { ...CALL, id: null }, 'interruptId'],
  ['an id that is longer than a reference may be', { ...CALL, id: 'i'.repeat(129) }, 'interruptId'],
  ['such a session', { ...CALL, session: 's'.repeat(129) }, 'threadId'],
])('[W8][W23] %s is left out: the server would refuse the question', (_what, call, field) => {
  expect(toQuestion(call, HOSTS.claude)).not.toHaveProperty(field);
});
