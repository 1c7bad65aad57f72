import { expect, test } from 'vitest';
import { aResume, aWait } from '../../testing/stores/event-things.ts';
import { aJob, anAttempt } from '../../testing/stores/things.ts';
import type { Fresh } from '../contract.ts';
import { openedFor, SPACE } from './opened.ts';

const REQUEST = { url: 'https://example.com/hook', body: '{}' };

export function describeWaits(fresh: Fresh): void {
  const opened = openedFor(fresh);

  test('[K20] a wait comes back as it went in, is open until it ends, and ends once', async () => {
    const { write, read } = await opened();
    const bare = { eventTypes: null, interruptId: null, policy: null };
    const waits = [aWait(), aWait({ id: 'wait_2', createdAt: 2, ...bare })];
    await write(async (tx) => {
      for (const wait of waits) await tx.waits.insert(wait);
    });
    expect(await read((tx) => tx.waits.open('agent-1', 5, 10))).toEqual(waits);
    expect(await read((tx) => tx.waits.open('agent-1', 5, 1))).toEqual(waits.slice(0, 1));
    expect(await read((tx) => tx.waits.get('wait_1'), 'sp_2')).toBeNull();
    const end = () => write((tx) => tx.waits.end('wait_1'));
    expect(await Promise.all([end(), end()])).toEqual([true, false]);
    expect(await read((tx) => tx.waits.open('agent-1', 5, 10))).toEqual(waits.slice(1));
    expect(await read((tx) => tx.waits.get('wait_1'))).toEqual(aWait());
  });

  test('[K20] a wait whose time is over is not open, and is closed when it is looked for', async () => {
    const { write, read } = await opened();
    await write((tx) => tx.waits.insert(aWait({ expiresAt: 50 })));
    expect(await read((tx) => tx.waits.open('agent-1', 49, 10))).toHaveLength(1);
    expect(await read((tx) => tx.waits.hasExpired('agent-1', 49))).toBe(false);
    expect(await read((tx) => tx.waits.open('agent-1', 50, 10))).toEqual([]);
    expect(await read((tx) => tx.waits.hasExpired('agent-1', 50))).toBe(true);
    expect(await write((tx) => tx.waits.closeExpired('agent-1', 50))).toBe(1);
    expect(await write((tx) => tx.waits.closeExpired('agent-1', 50))).toBe(0);
    expect(await write((tx) => tx.waits.end('wait_1'))).toBe(false);
  });

  test('[K21] resumes are read after a place, in order, and leave with their entries', async () => {
    const { write, read } = await opened();
    const resumes = [1, 2, 3].map((offset) => aResume({ offset, entryOffset: offset * 10 }));
    const alone = aResume({ offset: 4, entryOffset: 30, waitId: null, runStateRef: null, outOfOrder: true });
    await write(async (tx) => {
      for (const resume of [...resumes, alone]) await tx.waits.insertResume(resume);
    });
    await expect(write((tx) => tx.waits.insertResume(aResume()))).rejects.toThrow();
    await read(async (tx) => {
      expect(await tx.waits.resumes('agent-1', 1, 2)).toEqual(resumes.slice(1));
      expect(await tx.waits.resumes('agent-1', 3, 9)).toEqual([alone]);
      expect(await tx.waits.resumes('agent-2', 0, 9)).toEqual([]);
      expect(await tx.waits.resumesOf('agent-1', 'evt_2', 9)).toEqual([resumes[1]]);
      expect(await tx.waits.firstResumeFrom('agent-1', 11)).toBe(2);
      expect(await tx.waits.firstResumeFrom('agent-1', 31)).toBeNull();
    });
    expect(await write((tx) => tx.waits.removeResumesUpTo('agent-1', 20))).toBe(2);
    expect((await read((tx) => tx.waits.resumes('agent-1', 0, 9))).map((r) => r.offset)).toEqual([3, 4]);
  });

  test("[K20] an inbox has the freest settings until somebody says otherwise, and then that agent's own", async () => {
    const { write, read } = await opened();
    const settings = (agent: string) => read((tx) => tx.waits.settings(agent));
    const freest = { maxResumePolicy: 'resume_immediately', showReviews: true };
    expect(await settings('agent-1')).toEqual(freest);
    const set = { maxResumePolicy: 'append_only' as const, showReviews: false };
    await write((tx) => tx.waits.setSettings('agent-1', { ...set, showReviews: true }));
    await write((tx) => tx.waits.setSettings('agent-1', set));
    expect([await settings('agent-1'), await settings('agent-2')]).toEqual([set, freest]);
  });

  test('[D82] ended waits leave by age, oldest first, so many at a time; open ones never', async () => {
    const { write, read } = await opened();
    await write(async (tx) => {
      for (const [id, createdAt] of [
        ['second', 2],
        ['first', 1],
        ['open', 1],
        ['young', 9],
      ] as const) {
        await tx.waits.insert(aWait({ id, createdAt }));
        if (id !== 'open') await tx.waits.end(id);
      }
    });
    const left = () =>
      read(async (tx) => {
        const all = await Promise.all(['first', 'second', 'open', 'young'].map((id) => tx.waits.get(id)));
        return all.flatMap((wait) => wait?.id ?? []);
      });
    expect(await write((tx) => tx.leftovers.removeEndedWaits(9, 1))).toBe(1);
    expect(await left()).toEqual(['second', 'open', 'young']);
    expect(await write((tx) => tx.leftovers.removeEndedWaits(9, 10))).toBe(1);
    expect(await left()).toEqual(['open', 'young']);
  });

  test('[D82] ended jobs that are about no delivery leave by age, with their attempts', async () => {
    const { write, read } = await opened();
    await write(async (tx) => {
      for (const kind of ['digest', 'forward', 'push', 'callback'] as const) {
        for (const state of ['done', 'due'] as const) {
          const job = aJob({ id: `${kind} ${state}`, kind, state, delivery: kind, dueAt: 5 });
          await tx.jobs.insert(job, REQUEST);
          await tx.jobs.insertAttempt(anAttempt({ job: job.id, delivery: kind }));
        }
      }
    });
    expect(await write((tx) => tx.leftovers.removeEndedJobs(5, 10))).toBe(0);
    expect(await write((tx) => tx.leftovers.removeEndedJobs(6, 10))).toBe(3);
    await read(async (tx) => {
      expect((await tx.jobs.byDelivery('digest')).map(({ id }) => id)).toEqual(['digest due']);
      expect((await tx.jobs.attempts('digest')).map(({ job }) => job)).toEqual(['digest due']);
      expect(await tx.jobs.byDelivery('callback')).toHaveLength(2);
    });
  });

  test('[D82] heads are walked by name, and one leaves only if nobody wrote it meanwhile', async () => {
    const { store, write, read } = await opened();
    const names = ['subject:b', 'subject:a', 'ledger'] as const;
    await store.write(SPACE, names, async (tx) => {
      for (const [at, name] of names.entries()) {
        await tx.heads.get(name);
        tx.heads.set(name, { n: 1, at, text: '' });
      }
    });
    const walk = (after: string, limit: number) => read((tx) => tx.leftovers.heads(after, limit));
    expect(await walk('', 2)).toEqual([
      { name: 'ledger', at: 2 },
      { name: 'subject:a', at: 1 },
    ]);
    expect(await walk('subject:a', 2)).toEqual([{ name: 'subject:b', at: 0 }]);
    expect(await write((tx) => tx.leftovers.removeHead('subject:a', 0))).toBe(false);
    expect(await write((tx) => tx.leftovers.removeHead('subject:a', 1))).toBe(true);
    expect(await read((tx) => tx.heads.get('subject:a'))).toBeNull();
    expect(await read((tx) => tx.leftovers.heads('', 9), 'sp_2')).toEqual([]);
  });
}
