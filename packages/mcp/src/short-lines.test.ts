import { once } from 'node:events';
import { expect, it } from 'vitest';
import { idIn, type LongLine, shortLines } from './short-lines.ts';

/** What comes out when the lines arrive in pieces of this size. */
async function through(text: string, pieceBytes: number) {
  const long: LongLine[] = [];
  const lines = shortLines(2_000, (line) => long.push(line));
  const passed: string[] = [];
  lines.on('data', (piece: Buffer) => passed.push(String(piece)));
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += pieceBytes) lines.write(bytes.subarray(at, at + pieceBytes));
  lines.end();
  await once(lines, 'end');
  return { passed, long };
}

const request = (id: unknown, details = 'x'.repeat(3_000)) => ({
  method: 'tools/call',
  params: { name: 'wake_deliver', arguments: { details, id: 7 } },
  jsonrpc: '2.0',
  id,
});

it.each([1, 7, 999, 100_000])(
  '[M9] lines in pieces of %d bytes pass whole, and long ones not at all',
  async (size) => {
    const text = `short\nümlaut\r\n${JSON.stringify(request(3))}\n\n${'y'.repeat(1_999)}\nhalf`;
    const { passed, long } = await through(text, size);
    expect(passed).toEqual(['short\n', 'ümlaut\r\n', '\n', `${'y'.repeat(1_999)}\n`]);
    expect(long.map((line) => [line.bytes, idIn(line)])).toEqual([
      [JSON.stringify(request(3)).length + 1, 3],
    ]);
  },
);

const { method, params, jsonrpc, id } = request('a-1');
it.each([
  [request(-12), -12],
  [{ jsonrpc, id, method, params }, 'a-1'],
  [{ id, jsonrpc, method, params }, 'a-1'],
  [{ method, params, id, jsonrpc }, 'a-1'],
  [{ jsonrpc, method, params }, null],
  [request(1, `${'x'.repeat(3_000)},"id":5}`), 1],
  [{ jsonrpc, method, params: { ...params, id: 5 } }, null],
])('[M9] the id of a long request is found where it stands (%#)', async (message, expected) => {
  const { long } = await through(`${JSON.stringify(message)}\n`, 500);
  expect(long.map(idIn)).toEqual([expected]);
});
