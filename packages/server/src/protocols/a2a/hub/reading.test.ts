import { expect, test } from 'vitest';
import type { Room } from '../../../core/room.ts';
import { readFrame } from './reading.ts';

const room = {} as Room; // nothing of it is needed to refuse a frame
const WHO = { space: 'sp_1', agent: 'agent-1', tier: 'test' as const };

/** Far more than a frame may have: to write up each of them would take all memory there is. */
const MANY = 8_000_000;

const frame = (type: string, holder: string, parts: string) =>
  Buffer.from(`{"type":"${type}","id":"f","taskId":"t","${holder}":{"artifactId":"a","parts":[${parts}]}}`);

test.each([
  ['message', 'message'],
  ['artifact', 'artifact'],
])('[A13][W29] of millions of bad parts of a %s one is named, and few are looked at', (type, holder) => {
  const bad = readFrame(room, WHO, frame(type, holder, `${'1,'.repeat(MANY - 1)}1`));
  expect(bad).toMatchObject({
    kind: 'error',
    error: { id: 'f', code: 'invalid_frame', message: `${holder}.parts.0: must be object.` },
  });
  const many = readFrame(room, WHO, frame(type, holder, `${'{},'.repeat(2_000)}{}`));
  expect(many).toMatchObject({
    error: { message: `${holder}.parts: must not have more than 1000 items.` },
  });
});
