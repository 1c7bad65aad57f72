import { expect, onTestFinished, test, vi } from 'vitest';
import { Patience } from './patience.ts';

const SECOND = 1_000;

function impatient(bytesOut = 0): Patience {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  return new Patience(20 * SECOND, bytesOut);
}

/** An answer whose pieces are so many seconds apart. */
function slowAnswer(pieces: Uint8Array[], seconds: number): Response {
  const left = [...pieces];
  const pull = (out: ReadableStreamDefaultController<Uint8Array>) => {
    vi.advanceTimersByTime(seconds * SECOND);
    const piece = left.shift();
    if (piece === undefined) out.close();
    else out.enqueue(piece);
  };
  return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }));
}

test('an answer may take minutes on a slow line, and a letter may come in two pieces', async () => {
  const patience = impatient();
  const bytes = new TextEncoder().encode('["größer"]');
  const answer = slowAnswer(
    Array.from(bytes, (byte) => Uint8Array.of(byte)),
    19,
  );
  expect(await patience.read(answer)).toBe('["größer"]');
  expect(patience.signal.aborted).toBe(false);
});

test('a server that stops in the middle is given up', async () => {
  const patience = impatient();
  await patience.read(slowAnswer([Uint8Array.of(0x5b)], 21));
  expect(patience.signal.aborted).toBe(true);
});

test('a server that has much to hear first has longer to answer', () => {
  const patience = impatient(640_000);
  vi.advanceTimersByTime(29 * SECOND);
  expect(patience.signal.aborted).toBe(false);
  vi.advanceTimersByTime(2 * SECOND);
  expect(patience.signal.aborted).toBe(true);
});

test('nobody waits any more for what has ended', () => {
  impatient().end();
  expect(vi.getTimerCount()).toBe(0);
});
