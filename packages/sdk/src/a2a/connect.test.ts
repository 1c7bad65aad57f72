import { getEventListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { faultOf } from '../faults.ts';
import { agentAt, PATIENCE_MS, startHub, temporaryFolder } from '../testing/hub.ts';
import { TEST_KEY } from '../testing/room.ts';
import type { AgentTask } from './task.ts';

/** A promise with its handles outside. */
function gate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

describe('connect', () => {
  it('[A16] a task comes to the handler, and what it says and returns goes back in order', async () => {
    const hub = await startHub();
    agentAt(hub.url, {
      onTask: async (task) => {
        await task.status('Reading…');
        await task.artifact({ artifactId: 'a1', name: 'echo.txt', parts: [{ text: task.text }] });
        return 'Done.';
      },
    });
    const side = await hub.side();
    side.task('1');
    await side.until('completed');
    expect(hub.requests).toEqual([{ url: '/a2a/connect', authorization: `Bearer ${TEST_KEY}` }]);
    expect(side.said).toMatchObject([
      { type: 'accepted', taskId: 'task-1' },
      { type: 'status', message: { role: 'ROLE_AGENT', parts: [{ text: 'Reading…' }] } },
      { type: 'artifact', artifact: { artifactId: 'a1', name: 'echo.txt', parts: [{ text: 'about 1' }] } },
      { type: 'completed', message: { parts: [{ text: 'Done.' }] } },
    ]);
    expect(new Set(side.said.map(({ id }) => id)).size).toBe(4);
  });

  it.each([
    ['nothing', undefined, 'completed', undefined],
    ['words', 'Yes.', 'completed', [{ text: 'Yes.' }]],
    ['parts', { parts: [{ data: { n: 1 } }] }, 'completed', [{ data: { n: 1 } }]],
    [
      'a question',
      { state: 'input_required', said: 'May I?' } as const,
      'input_required',
      [{ text: 'May I?' }],
    ],
    ['a refusal', { state: 'rejected', said: 'No.' } as const, 'rejected', [{ text: 'No.' }]],
  ])('[A16] a handler may return %s', async (_name, reply, type, parts) => {
    const hub = await startHub();
    agentAt(hub.url, { onTask: () => reply, accept: false });
    const side = await hub.side();
    side.task('1');
    await side.until(type);
    expect(side.said).toHaveLength(1);
    expect((side.said[0]?.message as { parts?: unknown } | undefined)?.parts).toEqual(parts);
  });

  it('[A16] a connection that has ended leaves nothing behind on a signal that lives on', async () => {
    const hub = await startHub();
    const { signal } = new AbortController();
    const { connection } = agentAt(hub.url, { signal, onTask: () => 'Done.' });
    await hub.side();
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    await connection.stop({ withinMs: 0 });
    await connection.closed;
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('[A13] what is not acknowledged is sent again with the same id after a lost connection', async () => {
    const hub = await startHub();
    agentAt(hub.url, { onTask: () => 'Done.' });
    const first = await hub.side();
    first.task('1');
    await first.until('completed');
    const accepted = await first.until('accepted');
    first.ack(accepted);
    await vi.waitFor(() => expect(first.acks).toEqual(['1']), PATIENCE_MS);
    first.cut();
    const second = await hub.side(2);
    const again = await second.until('completed');
    expect(again).toEqual(await first.until('completed'));
    expect(second.said.map(({ type }) => type)).toEqual(['completed']);
  });

  it('[A13] whoever comes back names the connection that it had, also after a restart', async () => {
    const hub = await startHub();
    const state = temporaryFolder();
    const { connection } = agentAt(hub.url, { state, onTask: () => undefined });
    (await hub.side()).cut();
    await hub.side(2);
    await connection.stop();
    agentAt(hub.url, { state, onTask: () => undefined });
    await hub.side(3);
    expect(hub.requests.map(({ url }) => url)).toEqual([
      '/a2a/connect',
      '/a2a/connect?replaces=link_1',
      '/a2a/connect?replaces=link_2',
    ]);
  });

  it('[A13] without a state folder a task is acknowledged when it is done, and a second copy is not run', async () => {
    const hub = await startHub();
    const door = gate();
    const ran = vi.fn(() => door.opened);
    agentAt(hub.url, { onTask: ran });
    const first = await hub.side();
    first.task('1');
    await first.until('accepted');
    expect(first.acks).toEqual([]);
    first.cut();
    const second = await hub.side(2);
    second.task('1');
    second.task('2');
    await vi.waitFor(() => expect(ran).toHaveBeenCalledTimes(2), PATIENCE_MS);
    expect(second.acks).toEqual([]);
    door.open();
    await second.untilAcked('1');
    await second.untilAcked('2');
    second.task('1');
    await vi.waitFor(() => expect(second.acks.filter((id) => id === '1')).toHaveLength(2), PATIENCE_MS);
    expect(ran).toHaveBeenCalledTimes(2);
    // A server that has started over counts from the beginning.
    second.task('1', { taskId: 'task-of-a-new-server' });
    await vi.waitFor(() => expect(ran).toHaveBeenCalledTimes(3), PATIENCE_MS);
  });

  it('[A13] with a state folder it is acknowledged once it is on disk, before the handler is done', async () => {
    const hub = await startHub();
    const door = gate();
    const state = temporaryFolder();
    agentAt(hub.url, { state, onTask: () => door.opened });
    const side = await hub.side();
    side.task('1');
    await side.untilAcked('1');
    expect(readFileSync(join(state, 'journal.jsonl'), 'utf8')).toContain('"taskId":"task-1"');
    expect(readFileSync(join(state, 'journal.jsonl'), 'utf8')).not.toContain(TEST_KEY);
    door.open();
    await side.until('completed');
  });

  it('[A13] four at a time, and one at a time and in order within a context', async () => {
    const hub = await startHub();
    const seen: string[] = [];
    const doors = new Map<string, () => void>();
    agentAt(hub.url, {
      onTask: async (task) => {
        seen.push(task.id);
        const door = gate();
        doors.set(task.id, door.open);
        await door.opened;
      },
    });
    const side = await hub.side();
    side.task('1', { contextId: 'same' });
    side.task('2', { contextId: 'same' });
    for (const id of ['3', '4', '5', '6']) side.task(id);
    await vi.waitFor(() => expect(seen).toEqual(['task-1', 'task-3', 'task-4', 'task-5']), PATIENCE_MS);
    doors.get('task-3')?.();
    await vi.waitFor(
      () => expect(seen).toEqual(['task-1', 'task-3', 'task-4', 'task-5', 'task-6']),
      PATIENCE_MS,
    );
    doors.get('task-1')?.();
    await vi.waitFor(() => expect(seen.at(-1)).toBe('task-2'), PATIENCE_MS);
    for (const open of doors.values()) open();
  });

  it('[A13] a cancel aborts the handler, removes what waits, and nothing more is said', async () => {
    const hub = await startHub();
    const reasons: unknown[] = [];
    agentAt(hub.url, {
      onTask: async (task) => {
        await new Promise((resolve) => task.signal.addEventListener('abort', resolve));
        reasons.push(faultOf(task.signal.reason));
        await task.status('too late');
        return 'too late';
      },
    });
    const side = await hub.side();
    side.task('1');
    await side.until('accepted');
    side.send({
      type: 'message',
      id: '2',
      taskId: 'task-1',
      contextId: 'context-1',
      message: { parts: [{ text: 'x' }] },
    });
    side.send({ type: 'cancel', id: '3', taskId: 'task-1' });
    for (const id of ['1', '2', '3']) await side.untilAcked(id);
    expect(reasons).toEqual(['aborted']);
    expect(side.said.map(({ type }) => type)).toEqual(['accepted']);
  });

  it('[A13] a handler that throws fails the task without telling strangers why', async () => {
    const hub = await startHub();
    const trouble = new Error('the password is hunter2');
    const { errors } = agentAt(hub.url, {
      onTask: () => {
        throw trouble;
      },
    });
    const side = await hub.side();
    side.task('1');
    const failed = await side.until('failed');
    expect(JSON.stringify(failed)).not.toContain('hunter2');
    expect(errors).toEqual([trouble]);
  });

  it('[A13] a refused frame is told and not sent again, and an ended task aborts its handler', async () => {
    const hub = await startHub();
    const { errors } = agentAt(hub.url, {
      onTask: async (task) => {
        await task.status('one');
        await new Promise((resolve) => task.signal.addEventListener('abort', resolve));
      },
    });
    const first = await hub.side();
    first.task('1');
    const status = await first.until('status');
    first.ack(await first.until('accepted'));
    first.send({ type: 'error', id: status.id, code: 'task_ended', message: 'It was canceled.' });
    await first.untilAcked('1');
    expect(errors.map(faultOf)).toEqual(['conflict']);
    first.cut();
    const second = await hub.side(2);
    second.task('2');
    await second.until('status');
    expect(second.said.map(({ taskId }) => taskId)).toEqual(['task-2', 'task-2']);
    second.send({ type: 'cancel', id: '3', taskId: 'task-2' });
    await second.untilAcked('2');
  });

  it('[A13] an answer that the hub refuses ends the task all the same: it has failed, and says why', async () => {
    const hub = await startHub();
    agentAt(hub.url, { onTask: () => ({ parts: [{ raw: 'no base64!' }] }), accept: false });
    const side = await hub.side();
    side.task('1');
    const answer = await side.until('completed');
    const message = 'message.parts[0].raw must be base64.';
    side.send({ type: 'error', id: answer.id, code: 'invalid_frame', message });
    const failed = await side.until('failed');
    expect(failed).toMatchObject({
      taskId: 'task-1',
      message: { parts: [{ text: expect.stringContaining(message) }] },
    });
    expect(failed.id).not.toBe(answer.id);
    side.cut();
    const again = await hub.side(2);
    expect(await again.until('failed')).toEqual(failed);
    again.send({ type: 'error', id: failed.id, code: 'invalid_frame', message });
    again.task('2');
    await again.until('completed');
    expect(again.said.map(({ type }) => type)).toEqual(['failed', 'completed']);
  });

  it('[A13] a text that was cut in the middle of a character is sent without what is left of it', async () => {
    const hub = await startHub();
    const said = [
      '🏮 cut: 🏮'.slice(0, -1),
      '🏮'.slice(1),
      String.raw`\ud83d as written`,
      String.raw`\\`,
    ].join('\n');
    agentAt(hub.url, { onTask: () => said });
    const side = await hub.side();
    side.task('1');
    const { message } = await side.until('completed');
    const text = ['🏮 cut: \ufffd', '\ufffd', String.raw`\ud83d as written`, String.raw`\\`].join('\n');
    expect(message).toMatchObject({ parts: [{ text }] });
  });

  it('[A13] a store that is away is asked again with the same frame', async () => {
    const hub = await startHub();
    const clock = { now: () => Date.now(), sleep: async () => undefined };
    agentAt(hub.url, { onTask: () => 'Done.', accept: false, clock });
    const side = await hub.side();
    side.task('1');
    const first = await side.until('completed');
    side.send({ type: 'error', id: first.id, code: 'unavailable', message: 'Later.' });
    expect(await side.until('completed', 2)).toEqual(first);
  });

  it('[A13] a decision is a turn of its own, in the context of its task, with the words of the person', async () => {
    const hub = await startHub();
    const turns: Pick<AgentTask, 'kind' | 'contextId' | 'text' | 'decision' | 'deliveryId'>[] = [];
    agentAt(hub.url, {
      onTask: ({ kind, contextId, text, decision, deliveryId }) => {
        turns.push({ kind, contextId, text, decision, deliveryId });
        return kind === 'task' ? { state: 'input_required', said: 'May I?' } : 'Done.';
      },
    });
    const side = await hub.side();
    side.task('1');
    await side.until('input_required');
    const decision = { status: 'approved', feedback: 'Go on.', edited_content: null };
    side.send({ type: 'decision', id: '2', taskId: 'task-1', deliveryId: 'd1', decision });
    await side.until('completed');
    expect(turns[1]).toEqual({
      kind: 'decision',
      contextId: 'context-1',
      text: 'approved: Go on.',
      decision,
      deliveryId: 'd1',
    });
  });

  it('[W23] an approval with edited content reaches the agent as another version, not as leave to go on', async () => {
    const hub = await startHub();
    const decisions: AgentTask['decision'][] = [];
    agentAt(hub.url, {
      onTask: ({ kind, decision }) => {
        decisions.push(decision);
        return kind === 'task' ? { state: 'input_required', said: 'May I?' } : 'Done.';
      },
    });
    const side = await hub.side();
    side.task('1');
    await side.until('input_required');
    const decision = { status: 'approved', feedback: null, edited_content: { to: 'staging' } };
    side.send({ type: 'decision', id: '2', taskId: 'task-1', deliveryId: 'd1', decision });
    await side.until('completed');
    expect(decisions).toEqual([null, { ...decision, status: 'redirected' }]);
  });

  it('[A13] events and resumes come when asked for, and are acknowledged after their handler', async () => {
    const hub = await startHub();
    const seen: unknown[] = [];
    agentAt(hub.url, {
      onTask: () => undefined,
      onEvent: async (event, cursor) => void seen.push([event, cursor]),
      onResume: (resume) => void seen.push(resume),
    });
    const side = await hub.side();
    expect(hub.requests[0]?.url).toBe('/a2a/connect?events=1&resumes=1');
    side.send({ type: 'event', id: 'e1', cursor: 'c1', event: { event_id: 'evt_1' } });
    side.send({ type: 'resume', id: 'r1', resume_id: 'res_1' });
    await side.untilAcked('r1');
    expect(side.acks).toEqual(['e1', 'r1']);
    expect(seen).toMatchObject([[{ event_id: 'evt_1' }, 'c1'], { resume_id: 'res_1' }]);
  });

  it('[A16] an async iterator gives one task for each time it is asked, and ends with stop()', async () => {
    const hub = await startHub();
    const { connection } = agentAt(hub.url, {});
    const side = await hub.side();
    side.task('1');
    side.task('2');
    const seen: string[] = [];
    for await (const task of connection) {
      seen.push(task.id);
      await task.complete(`Answer to ${task.text}`);
      if (seen.length === 2) break;
    }
    await side.until('completed', 2);
    expect(seen).toEqual(['task-1', 'task-2']);
    const next = connection[Symbol.asyncIterator]().next();
    for (const frame of side.said) side.ack(frame);
    await connection.stop();
    expect(await next).toEqual({ done: true, value: undefined });
  });

  it('[A16] a second end of the same turn is an error of the handler', async () => {
    const hub = await startHub();
    const { errors } = agentAt(hub.url, {
      onTask: async (task) => {
        await task.complete('one');
        await task.fail('two');
      },
    });
    const side = await hub.side();
    side.task('1');
    await side.untilAcked('1');
    expect(errors.map(faultOf)).toEqual(['wrong_usage']);
    expect(side.said.map(({ type }) => type)).toEqual(['accepted', 'completed']);
  });

  it('[A13] what does not fit a frame is refused before it is sent', async () => {
    const hub = await startHub();
    const { errors } = agentAt(hub.url, {
      onTask: async (task) => void (await task.artifact({ parts: [{ text: '\u0000'.repeat(200_000) }] })),
    });
    const side = await hub.side();
    side.task('1');
    await side.until('failed');
    expect(errors.map(faultOf)).toEqual(['wrong_usage']);
  });

  it('[A13] stop() lets handlers finish and waits until the hub has everything', async () => {
    const hub = await startHub();
    const door = gate();
    const { connection } = agentAt(hub.url, { onTask: () => door.opened });
    const side = await hub.side();
    side.task('1');
    side.ack(await side.until('accepted'));
    let hasStopped = false;
    const stopping = connection.stop().then(() => {
      hasStopped = true;
    });
    side.task('2');
    door.open();
    const completed = await side.until('completed');
    expect(hasStopped).toBe(false);
    side.ack(completed);
    await stopping;
    expect(side.said).toHaveLength(2);
  });
});

describe('reconnecting', () => {
  it('[A13][A15] pauses grow to 15 s, with chance in them, and start over after a greeting', async () => {
    let left = 8;
    const hub = await startHub(() => (left-- > 0 ? 503 : null));
    const pauses: number[] = [];
    const clock = { now: () => Date.now(), sleep: async (ms: number) => void pauses.push(ms) };
    agentAt(hub.url, { onTask: () => undefined, clock });
    await hub.side();
    expect(pauses).toHaveLength(8);
    for (const [n, ms] of pauses.entries()) {
      const most = Math.min(500 * 2 ** n, 15_000);
      expect(ms).toBeLessThanOrEqual(most);
      expect(ms).toBeGreaterThanOrEqual(most / 2);
    }
    (await hub.side()).cut();
    await hub.side(2);
    expect(pauses.at(-1)).toBeLessThanOrEqual(500);
  });

  it.each([
    [401, 'unauthorized'],
    [403, 'forbidden'],
  ])('[A13] a key that is refused with %i is not tried again', async (status, fault) => {
    const hub = await startHub(() => status);
    const { connection, errors } = agentAt(hub.url, { onTask: () => undefined });
    const outcome = await connection.closed.then(() => 'ended', faultOf);
    expect(outcome).toBe(fault);
    expect(errors.map(faultOf)).toEqual([fault]);
    expect(hub.requests).toHaveLength(1);
  });

  it('[A13] close code 1008 means the same later on; 1012 and 1013 mean come back', async () => {
    const hub = await startHub();
    const clock = { now: () => Date.now(), sleep: async () => undefined };
    const { connection } = agentAt(hub.url, { onTask: () => undefined, clock });
    (await hub.side(1)).close(1012);
    (await hub.side(2)).close(1013);
    (await hub.side(3)).close(1008);
    expect(await connection.closed.then(() => 'ended', faultOf)).toBe('unauthorized');
    expect(hub.requests).toHaveLength(3);
  });

  it('[A16] whoever iterates gets the fault as well', async () => {
    const hub = await startHub(() => 401);
    const { connection } = agentAt(hub.url, {});
    const next = connection[Symbol.asyncIterator]().next();
    expect(await next.then(() => 'ended', faultOf)).toBe('unauthorized');
  });

  it('[A13] a key never travels in the clear', () => {
    expect(() => agentAt('http://desk.example.com', {})).toThrow(/https/);
  });
});
