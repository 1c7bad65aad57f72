import { getEventListeners } from 'node:events';
import { expect, it, vi } from 'vitest';
import type { AgentFrame } from './frames.ts';
import { memoryJournal } from './journal.ts';
import { Keeper } from './keeper.ts';

const MIB = 'x'.repeat(1024 * 1024);

function artifact(id: string): AgentFrame {
  const content = { artifactId: id, parts: [{ text: MIB }] };
  return { id, type: 'artifact', taskId: 'task-1', artifact: content };
}

it('[A13] waiting for room leaves nothing behind on the signal, however often something is acknowledged', async () => {
  const keeper = new Keeper({
    journal: memoryJournal(),
    pause: async () => undefined,
    trouble: () => undefined,
  });
  await keeper.open();
  const ids = Array.from({ length: 12 }, (_, index) => `a${index}`);
  for (const id of ids) await keeper.say('1', artifact(id), false);
  const { signal } = new AbortController();
  const listeners = () => getEventListeners(signal, 'abort').length;
  const waiting = keeper.room(signal);
  expect(listeners()).toBe(1);
  for (const id of ids) {
    keeper.acknowledged(id);
    await vi.waitFor(() => expect(keeper.book.outbox.has(id)).toBe(false));
    expect(listeners()).toBeLessThanOrEqual(1);
  }
  await waiting;
  expect(listeners()).toBe(0);
});
