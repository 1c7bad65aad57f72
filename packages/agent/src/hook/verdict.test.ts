import type { Answer } from '@lanternroom/sdk/wake';
import { expect, it } from 'vitest';
import { HOSTS } from './hosts.ts';
import { toVerdict } from './verdict.ts';

const CALL = { session: 's', id: null, tool: 'mcp__shop__pay', input: { to: 1 }, cwd: '/srv/shop' };

const redirectedTo = (editedContent: string): Answer => ({
  status: 'redirected',
  mayProceed: false,
  deliveryId: '550e8400-e29b-41d4-a716-446655440000',
  respondedAt: null,
  instructions: { feedback: null, editedContent },
});

it('[W23] an input that a person wrote as JSON is what the tool gets', () => {
  const verdict = toVerdict(redirectedTo('{"input":{"to":2}}'), CALL, HOSTS.claude);
  expect(verdict).toMatchObject({ kind: 'allow', input: { to: 2 } });
});

it.each(['{"input":{"to":1187350000000000123}}', '{"input":{"to":2,"to":3}}'])(
  '[W23] %s would reach the tool as something else: it does not run, and the agent reads what they wrote',
  (text) => {
    const verdict = toVerdict(redirectedTo(text), CALL, HOSTS.claude);
    expect(verdict).toEqual({ kind: 'deny', reason: `The person wants it done differently. ${text}` });
  },
);
