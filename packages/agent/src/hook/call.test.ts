import { expect, it } from 'vitest';
import { readCall } from './call.ts';
import { HOSTS } from './hosts.ts';

const callWith = (number: string) =>
  readCall(
    `{"hook_event_name":"PreToolUse","tool_name":"mcp__map__go","session_id":"s","tool_input":{"to":${number}}}`,
    HOSTS.claude,
  );

it.each(['0.9500000000000001', '-122.41941550000001', '1e21', '1.5E-7', '9007199254740992', '-0'])(
  '[W23] %s is a number that a person can be shown',
  (number) => expect(callWith(number)).toMatchObject({ input: { to: Number(number) } }),
);

it.each(['9007199254740993', '-12345678901234567890', '1e400', '9'.repeat(400)])(
  '[W23] %s is not: they would approve another one than the tool gets',
  (number) =>
    expect(callWith(number)).toEqual({ odd: expect.stringContaining(`holds ${number.slice(0, 40)}, which`) }),
);
