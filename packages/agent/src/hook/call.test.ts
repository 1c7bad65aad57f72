import { expect, it } from 'vitest';
import { readCall } from './call.ts';
import { HOSTS } from './hosts.ts';

const callWith = (number: string) =>
  readCall(
    `{"hook_event_name":"PreToolUse","tool_name":"mcp__map__go","session_id":"s","tool_input":{"to":${number}}}`,
    HOSTS.claude,
  );

it.each([
  '1187350000000000800',
  '0.9500000000000001',
  '-122.41941550000001',
  '1e21',
  '1.5E-7',
  '9007199254740992',
  '-0',
])('[W23] %s is a number that a person can be shown', (number) =>
  expect(callWith(number)).toMatchObject({ input: { to: Number(number) } }),
);

it.each(['9007199254740993', '-12345678901234567890', '1e400', '9'.repeat(400)])(
  '[W23] %s is not: they would approve another one than the tool gets',
  (number) =>
    expect(callWith(number)).toEqual({ odd: expect.stringContaining(`holds ${number.slice(0, 40)}, which`) }),
);

it.each([
  ['"tool_name":"Bash","tool_name":"Read","tool_input":{}', 'tool_name'],
  ['"tool_name":"Bash","tool_input":{"command":"rm -rf .","\\u0063ommand":"ls"}', 'command'],
  ['"tool_name":"Bash","tool_input":{"list":[{"a":1,"b":"}","a":2}]}', 'a'],
])('[W23] a call that says %s cannot be shown to anybody', (members, name) => {
  const text = `{"hook_event_name":"PreToolUse","session_id":"s",${members}}`;
  expect(readCall(text, HOSTS.claude)).toEqual({ odd: expect.stringContaining(`says "${name}" twice`) });
});

it('[W23] the same name in several places, or in a text, is not a repetition', () => {
  const input = { a: { a: [{ a: 1 }, { a: '{"a":1,"a":2}' }] }, b: 'a' };
  const call = { hook_event_name: 'PreToolUse', tool_name: 'Bash', session_id: 's', tool_input: input };
  expect(readCall(JSON.stringify(call), HOSTS.claude)).toMatchObject({ input });
});
