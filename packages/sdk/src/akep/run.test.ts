import { describe, expect, it } from 'vitest';
import { faultOf } from '../faults.ts';
import { acks, event, inboxScript, page, resume, startInbox } from '../testing/inbox.ts';

const THREE = ['evt_1', 'evt_2', 'evt_3'].map((id) => event(id));

const failing = async (): Promise<void> => {
  throw new Error('no');
};

describe('running on the inbox', () => {
  it('[K13] each event is acknowledged after its handler, in order', async () => {
    const world = await startInbox(inboxScript(THREE));
    const steps: string[] = [];
    await world.inbox.run(
      async ({ event_id }) => {
        steps.push(`${event_id} after ${acks(world.seen).length}`);
      },
      { once: true },
    );
    expect(steps).toEqual(['evt_1 after 0', 'evt_2 after 1', 'evt_3 after 2']);
    expect(acks(world.seen)).toEqual(['evt_1 applied', 'evt_2 applied', 'evt_3 applied']);
    expect(world.logged()).toEqual(['ack', 'ack', 'ack']);
  });

  it('[K13] what was handled is acknowledged when the limit is over, and not handled again', async () => {
    const script = inboxScript(THREE);
    let refusals = 0;
    const world = await startInbox((seen, count) => {
      if (seen.method !== 'POST' || refusals === 4) return script(seen, count);
      refusals += 1;
      return { status: 429, headers: { 'retry-after': '1' } };
    });
    const handled: string[] = [];
    const stop = new AbortController();
    await world.inbox.run(
      ({ event_id }) => {
        handled.push(event_id);
        if (handled.length === 3) stop.abort();
      },
      { signal: stop.signal },
    );
    expect(handled).toEqual(['evt_1', 'evt_2', 'evt_3']);
    expect(world.alerts).toEqual(['rate_limited']);
  });

  it('[K13] a handler says otherwise by what it returns', async () => {
    const world = await startInbox(inboxScript(THREE));
    const rejected = { status: 'rejected', reason: `${'x'.repeat(999)}😀${'x'.repeat(500)}` } as const;
    const verdicts = [rejected, { status: 'stored' } as const, 'skip' as const];
    await world.inbox.run(async () => verdicts.shift(), { once: true });
    expect(acks(world.seen)).toEqual(['evt_1 rejected', 'evt_2 stored']);
    expect(world.logged()).toEqual(['ack', 'ack', 'skipped']);
    const first = world.seen.find((one) => one.method === 'POST');
    expect(JSON.parse(first?.body ?? '').reason).toBe('x'.repeat(999));
    expect(JSON.parse(first?.body ?? '').processed_at).toBe('2026-03-08T12:00:00.000Z');
  });

  it('[K13] what a function happens to return is no verdict: the event was handled', async () => {
    const world = await startInbox(inboxScript(THREE));
    const seen: string[] = [];
    const handler = (({ event_id }: { event_id: string }) => seen.push(event_id)) as unknown as () => void;
    await world.inbox.run(handler, { once: true });
    expect(acks(world.seen)).toEqual(['evt_1 applied', 'evt_2 applied', 'evt_3 applied']);
  });

  it.each(['rejected', 'stop', { status: 'done' }])(
    '[K13] %j looks like a verdict and is none: nothing is acknowledged',
    async (says) => {
      const world = await startInbox(inboxScript(THREE));
      const running = world.inbox.run((() => says) as unknown as () => void, { once: true });
      await expect(running).rejects.toMatchObject({ fault: 'wrong_usage' });
      expect(acks(world.seen)).toEqual([]);
    },
  );

  it('[K13] a handler that throws leaves its event unacknowledged, ends the run, and gets it again', async () => {
    const world = await startInbox(inboxScript(THREE));
    const handled: string[] = [];
    const running = world.inbox.run(
      async ({ event_id }) => {
        handled.push(event_id);
        if (event_id === 'evt_2' && handled.length === 2) throw new Error('disk full');
      },
      { once: true },
    );
    await expect(running).rejects.toThrow('disk full');
    expect(acks(world.seen)).toEqual(['evt_1 applied']);
    await world.inbox.run(async ({ event_id }) => void handled.push(event_id), { once: true });
    expect(handled).toEqual(['evt_1', 'evt_2', 'evt_2', 'evt_3']);
  });

  it('[K13] onError skips, rejects or stops', async () => {
    const world = await startInbox(inboxScript(THREE));
    const says = ['skip', { status: 'rejected', reason: 'odd' }, 'stop'] as const;
    const asked: string[] = [];
    const running = world.inbox.run(failing, {
      once: true,
      onError: (_, item) => {
        asked.push(item.type);
        return says[asked.length - 1] ?? 'stop';
      },
    });
    await expect(running).rejects.toThrow('no');
    expect(acks(world.seen)).toEqual(['evt_2 rejected']);
    expect(world.logged()).toEqual(['skipped', 'ack']);
  });

  it('[K13] what was acknowledged otherwise before does not stop the run', async () => {
    const script = inboxScript(THREE);
    const world = await startInbox((seen, count) => {
      if (seen.url.includes('evt_1')) return { status: 409, body: { error: 'was rejected' } };
      return seen.url.includes('evt_2') ? { status: 404, body: { error: 'gone' } } : script(seen, count);
    });
    await world.inbox.run(() => undefined, { once: true });
    expect(world.logged()).toEqual(['ack_refused', 'ack_refused', 'ack']);
  });

  it('[K13] where two producers used one id, the acknowledgement says whose it is', async () => {
    const script = inboxScript(THREE.slice(0, 1));
    const world = await startInbox((seen, count) =>
      seen.url.endsWith('/ack') ? { status: 409, body: { error: 'Two producers.' } } : script(seen, count),
    );
    await world.inbox.run(() => undefined, { once: true });
    expect(world.seen.at(-1)?.url).toBe('/akep/events/evt_1/ack?producer_id=prod_exporter');
    expect(world.logged()).toEqual(['ack']);
  });

  it('[K21] resumes come after the events that caused them, and are logged', async () => {
    const world = await startInbox(inboxScript(THREE, { size: 2, resumes: [resume('res_1')] }));
    const steps: string[] = [];
    await world.inbox.run(({ event_id }) => void steps.push(event_id), {
      once: true,
      onResume: ({ resume_id, run_state_ref }) => void steps.push(`${resume_id} ${run_state_ref}`),
    });
    expect(steps).toEqual(['evt_1', 'evt_2', 'evt_3', 'res_1 runs/42.json']);
    expect(world.logged()).toEqual(['ack', 'ack', 'ack', 'resume']);
  });

  it('[K21] a resume that was not taken comes again', async () => {
    const world = await startInbox(inboxScript([], { resumes: [resume('res_1'), resume('res_2')] }));
    const run = (onResume: () => void) => world.inbox.run(() => undefined, { once: true, onResume });
    await expect(
      run(() => {
        throw new Error('not now');
      }),
    ).rejects.toThrow('not now');
    let count = 0;
    await run(() => {
      count += 1;
    });
    expect(count).toBe(2);
  });

  it('[K12] the signal ends it without an error, after what was begun', async () => {
    const controller = new AbortController();
    const world = await startInbox(inboxScript(THREE));
    const handled: string[] = [];
    await world.inbox.run(
      async ({ event_id }) => {
        controller.abort();
        handled.push(event_id);
      },
      { signal: controller.signal },
    );
    expect(handled).toEqual(['evt_1']);
    expect(acks(world.seen)).toEqual(['evt_1 applied']);
    await world.inbox.run(({ event_id }) => void handled.push(event_id), { once: true });
    expect(handled).toEqual(['evt_1', 'evt_2', 'evt_3']);
  });

  it('[K12] a parked wait ends with the signal', async () => {
    const controller = new AbortController();
    const script = inboxScript([]);
    const world = await startInbox((seen, count) => {
      if (!seen.url.includes('/wait')) return script(seen, count);
      controller.abort();
      return new Promise(() => undefined);
    });
    await expect(world.inbox.run(() => undefined, { signal: controller.signal })).resolves.toBeUndefined();
  });

  it('[K13] an acknowledgement survives a restart of the server', async () => {
    const controller = new AbortController();
    let refusals = 0;
    const world = await startInbox((seen) => {
      if (seen.method === 'GET') return page(THREE.slice(0, 1), 'c1');
      refusals += 1;
      if (refusals > 5) controller.abort();
      return { status: refusals > 5 ? 200 : 503 };
    });
    await world.inbox.run(() => undefined, { signal: controller.signal });
    expect(world.logged()).toEqual(['ack']);
  });
});

describe('one event', () => {
  it('[K13] is acknowledged by hand', async () => {
    const world = await startInbox(() => ({ status: 200, body: {} }));
    await world.inbox.ack('evt_1', 'rejected', { reason: 'Not ours.', producerId: 'prod_x' });
    expect(world.seen[0]?.url).toBe('/akep/events/evt_1/ack?producer_id=prod_x');
    expect(JSON.parse(world.seen[0]?.body ?? '')).toMatchObject({ status: 'rejected', reason: 'Not ours.' });
    const odd = Reflect.apply(world.inbox.ack, null, ['evt_1', 'done']);
    await expect(odd).rejects.toMatchObject({ fault: 'wrong_usage' });
    expect(world.seen).toHaveLength(1);
  });

  it('[K13] an acknowledgement that contradicts an earlier one is fault conflict', async () => {
    const world = await startInbox(() => ({ status: 409, body: { error: 'was applied' } }));
    await expect(world.inbox.ack('evt_1', 'rejected')).rejects.toMatchObject({ fault: 'conflict' });
    expect(world.logged()).toEqual([]);
  });

  it('[K14] is shown with what was said about it', async () => {
    const ack = { status: 'applied', processed_at: '2026-03-08T12:00:00Z', reason: null };
    const world = await startInbox(() => ({
      status: 200,
      body: { event: event('evt_1'), cursor: 'c1', ack },
    }));
    expect(await world.inbox.get('evt 1')).toEqual({ event: event('evt_1'), cursor: 'c1', ack });
    expect(world.seen[0]?.url).toBe('/akep/events/evt%201');
    const odd = await startInbox(() => ({ status: 200, body: { event: {}, cursor: 'c1' } }));
    expect(await odd.inbox.get('evt_1').catch(faultOf)).toBe('bad_reply');
  });

  it('[K16] tells the state of its task', async () => {
    const task = { task_id: 't/1', status: 'completed', updated_at: 'x', events: [], artifacts: [] };
    const world = await startInbox(() => ({ status: 200, body: task }));
    expect(await world.inbox.task('t/1')).toEqual(task);
    expect(world.seen[0]?.url).toBe('/akep/tasks/t%2F1');
  });

  it('[K25] is emitted in the name of the agent, by its key', async () => {
    const world = await startInbox(() => ({ status: 202, body: { accepted: true, duplicate: false } }));
    const knowledge = { kind: 'observation', summary: 'The supplier has closed.' } as const;
    const draft = { event_type: 'knowledge.acquired', subject: { agent_id: 'other' }, knowledge };
    const { eventId } = await world.inbox.emit(draft);
    expect(world.seen[0]).toMatchObject({ method: 'POST', url: '/akep/emit' });
    expect(JSON.parse(world.seen[0]?.body ?? '')).toMatchObject({
      event_id: eventId,
      source: { name: 'agent', type: 'agent' },
    });
    expect(world.logged()).toEqual(['emitted']);
  });
});
