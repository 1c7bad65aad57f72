import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { faultOf } from '../faults.ts';
import { agentAt, startHub, temporaryFolder } from '../testing/hub.ts';
import { Book } from './book.ts';
import { claimFolder } from './claim.ts';

const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hello' }] };
const taken = (id: string) =>
  JSON.stringify({
    entry: 'taken',
    frame: { type: 'task', id, taskId: `task-${id}`, contextId: 'c', message },
  });
const line = (entry: string, facts: object) => JSON.stringify({ entry, ...facts });

/** A state folder as a killed process leaves it. */
function left(...lines: string[]): string {
  const state = temporaryFolder();
  writeFileSync(join(state, 'journal.jsonl'), `${lines.join('\n')}\n`);
  return state;
}

describe('after a crash', () => {
  it('[A13] what was taken and not begun is done, and what was begun is not begun again', async () => {
    const hub = await startHub();
    const state = left(taken('1'), line('begun', { turn: '1.task-1' }), taken('2'));
    const ran: string[] = [];
    agentAt(hub.url, { state, onTask: (task) => void ran.push(task.id) });
    const side = await hub.side();
    await side.until('completed');
    const failed = await side.until('failed');
    expect(ran).toEqual(['task-2']);
    expect(failed).toMatchObject({
      taskId: 'task-1',
      message: { parts: [{ text: /not done a second time/ }] },
    });
  });

  it('[A13] of several that find a killed process at once, one has the folder', async () => {
    for (let round = 0; round < 20; round += 1) {
      const state = temporaryFolder();
      writeFileSync(join(state, 'lock'), JSON.stringify({ pid: process.pid, started: 'another time' }));
      const claims = await Promise.allSettled(Array.from({ length: 4 }, () => claimFolder(state)));
      expect(claims.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    }
  });

  it('[A13] a lock that was never written to the end is taken over', async () => {
    const state = temporaryFolder();
    writeFileSync(join(state, 'lock'), '');
    await (await claimFolder(state)).release();
  });

  it('[A13] onInterrupted continues what was begun, and says nothing twice under one key', async () => {
    const hub = await startHub();
    const out = { type: 'status', id: '1.task-1.half', taskId: 'task-1', message };
    const state = left(
      taken('1'),
      line('begun', { turn: '1.task-1' }),
      line('out', { turn: '1.task-1', frame: out }),
    );
    appendFileSync(join(state, 'journal.jsonl'), `${line('acked', { id: '1.task-1.half' })}\n{"entry":"ou`);
    agentAt(hub.url, {
      state,
      onTask: () => 'begun again',
      onInterrupted: async (task) => {
        await task.status('half', { key: 'half' });
        await task.status('nearly', { key: 'nearly' });
        return 'resumed';
      },
    });
    const side = await hub.side();
    await side.until('completed');
    expect(side.said.map(({ id, type }) => [id, type])).toEqual([
      ['1.task-1.nearly', 'status'],
      ['1.task-1.end', 'completed'],
    ]);
  });

  it('[A13] what was said and not acknowledged is sent by the next process', async () => {
    const hub = await startHub();
    const state = temporaryFolder();
    const first = agentAt(hub.url, { state, onTask: () => 'Done.' });
    const side = await hub.side();
    side.task('1');
    const completed = await side.until('completed');
    // The journal as it is now, without the goodbye of the process that wrote it.
    const copy = left(...readFileSync(join(state, 'journal.jsonl'), 'utf8').trim().split('\n'));
    for (const frame of side.said) side.ack(frame);
    await first.connection.stop();
    const ran = vi.fn();
    agentAt(hub.url, { state: copy, onTask: ran });
    const next = await hub.side(2);
    expect(await next.until('completed')).toEqual(completed);
    next.task('1');
    await next.untilAcked('1');
    expect(ran).not.toHaveBeenCalled();
  });

  it('[A15] a state folder has one process at a time; what a killed one has left is taken over', async () => {
    const hub = await startHub();
    const state = temporaryFolder();
    writeFileSync(join(state, 'lock'), JSON.stringify({ pid: process.pid, started: 'another time' }));
    agentAt(hub.url, { state, onTask: () => undefined });
    await hub.side();
    const second = agentAt(hub.url, { state, onTask: () => undefined });
    expect(await second.connection.closed.then(() => 'ended', faultOf)).toBe('wrong_usage');
    expect(String(second.errors[0])).toContain(`Process ${process.pid}`);
  });

  it('[A15] a state folder that cannot be written is one sentence', async () => {
    const hub = await startHub();
    const state = join(temporaryFolder(), 'file');
    writeFileSync(state, '');
    const { connection } = agentAt(hub.url, { state: join(state, 'below'), onTask: () => undefined });
    expect(await connection.closed.then(() => 'ended', faultOf)).toBe('log_failed');
  });
});

describe('the book', () => {
  it('[A13] written anew is the same book', () => {
    const out = (id: string) =>
      line('out', { turn: '1.task-1', frame: { type: 'status', id, taskId: 'task-1' } });
    const lines = [
      line('linked', { id: 'link_1' }),
      taken('0'),
      line('ended', { turn: '0.task-0' }),
      taken('1'),
      line('begun', { turn: '1.task-1' }),
      out('1.a'),
      out('1.b'),
      line('acked', { id: '1.a' }),
      taken('2'),
    ];
    const book = Book.from(lines);
    const again = Book.from([...book.lines()].map((entry) => JSON.stringify(entry)));
    for (const one of [book, again]) {
      expect(one.link).toBe('link_1');
      expect([...one.turns.keys()]).toEqual(['1.task-1', '2.task-2']);
      expect([...(one.turns.get('1.task-1')?.said ?? [])].sort()).toEqual(['1.a', '1.b']);
      expect([...one.outbox.keys()]).toEqual(['1.b']);
      expect([one.knows('0.task-0'), one.hasEnded('0.task-0'), one.hasEnded('1.task-1')]).toEqual([
        true,
        true,
        false,
      ]);
    }
  });

  it('[A13] half a line and lines of a newer version are skipped', () => {
    const book = Book.from([taken('1'), '{"entry":"taken","fra', '{"entry":"invented","x":1}', '[]']);
    expect([...book.turns.keys()]).toEqual(['1.task-1']);
  });
});
