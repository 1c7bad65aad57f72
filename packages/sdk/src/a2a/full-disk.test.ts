import { describe, expect, it } from 'vitest';
import { LanternError } from '../faults.ts';
import { manualClock } from '../testing/clock.ts';
import { agentAt, startHub } from '../testing/hub.ts';
import type { TaskJournal } from './journal.ts';

/** A journal on a disk that has no room for some lines, for as long as the test says. */
function crampedJournal(fits: (line: string) => boolean) {
  const written: string[] = [];
  const journal: TaskJournal = {
    isDurable: true,
    open: async () => [],
    append: async (lines) => {
      if (!lines.every(fits)) throw new LanternError('log_failed', 'No space left.');
      written.push(...lines);
    },
    replace: async () => undefined,
    close: async () => undefined,
  };
  return { journal, written };
}

const isAnswer = (line: string) => line.includes('"completed"');

describe('a journal without room', () => {
  it('[A13] an answer that did not fit is sent as soon as there is room', async () => {
    const hub = await startHub();
    const clock = manualClock();
    let refusals = 0;
    const { journal, written } = crampedJournal((line) => {
      if (!isAnswer(line) || refusals === 5) return true;
      refusals += 1;
      return false;
    });
    const { errors } = agentAt(hub.url, { journal, clock, onTask: () => 'A long answer.' });
    const side = await hub.side();
    side.task('1');
    expect(await side.until('completed')).toMatchObject({ message: { parts: [{ text: 'A long answer.' }] } });
    expect(written.filter(isAnswer)).toHaveLength(1);
    expect(side.said.map(({ type }) => type)).toEqual(['accepted', 'completed']);
    // Told once, and not at every try.
    expect(errors.map(String)).toEqual(['LanternError: No space left.']);
    expect(clock.naps).toHaveLength(5);
  });

  it('[A13] work is taken as soon as it can be kept', async () => {
    const hub = await startHub();
    let refusals = 0;
    const { journal } = crampedJournal((line) => {
      if (!line.includes('"taken"') || refusals === 3) return true;
      refusals += 1;
      return false;
    });
    agentAt(hub.url, { journal, clock: manualClock(), onTask: () => 'Done.' });
    const side = await hub.side();
    side.task('1');
    await side.untilAcked('1');
    await side.until('completed');
  });

  it('[A13] whoever stops is not kept waiting, and a turn without its answer stays open', async () => {
    const hub = await startHub();
    const { journal, written } = crampedJournal((line) => !/"(completed|failed)"/.test(line));
    const { connection, errors } = agentAt(hub.url, { journal, onTask: () => 'A long answer.' });
    const side = await hub.side();
    side.task('1');
    await side.until('accepted');
    await expect.poll(() => errors.length).toBeGreaterThan(0);
    await connection.stop({ withinMs: 0 });
    expect(written.some((line) => line.includes('"begun"'))).toBe(true);
    expect(written.some((line) => line.includes('"ended"'))).toBe(false);
  });
});
