import { describe, expect, it, vi } from 'vitest';
import { event, resume, resumePage, startInbox } from '../testing/inbox.ts';
import type { Said, Seen } from '../testing/room.ts';

const WAIT = { subject: { task_id: 'task_42' }, run_state_ref: 'runs/42.json' };
const OPENED: Said = { status: 201, body: { wait_id: 'wait_1', ...WAIT, created_at: 'x' } };

/** Opens a wait, lists resumes as told, and shows any event. */
function waiting(resumes: (count: number) => Said) {
  let looks = 0;
  return (seen: Seen): Said => {
    if (seen.method === 'POST') return OPENED;
    if (seen.method === 'DELETE') return { status: 204 };
    if (seen.url.startsWith('/akep/events/'))
      return { status: 200, body: { event: event('evt_1'), cursor: 'c1', ack: null } };
    looks += 1;
    return resumes(looks);
  };
}

describe('waiting for an event', () => {
  it('[K20] a wait is opened, listed and ended', async () => {
    const world = await startInbox((seen) => {
      if (seen.method === 'GET') return { status: 200, body: { waits: [{ wait_id: 'wait_1' }] } };
      return seen.method === 'POST' ? OPENED : { status: 204 };
    });
    expect(await world.inbox.openWait(WAIT)).toMatchObject({ wait_id: 'wait_1' });
    expect(await world.inbox.waits()).toHaveLength(1);
    await world.inbox.endWait('wait_1');
    expect(world.seen.map((one) => `${one.method} ${one.url}`)).toEqual([
      'POST /akep/waits',
      'GET /akep/waits',
      'DELETE /akep/waits/wait_1',
    ]);
    expect(JSON.parse(world.seen[0]?.body ?? '')).toEqual(WAIT);
    expect(world.logged()).toEqual(['wait_opened', 'wait_ended']);
  });

  it.each(['hang_up', { status: 502 }] as const)(
    '[K20] a wait whose reply got lost (%j) is found instead of being opened twice',
    async (loss) => {
      const others = { wait_id: 'wait_0', ...WAIT, run_state_ref: 'runs/41.json', created_at: 'x' };
      const ours = {
        wait_id: 'wait_1',
        event_types: null,
        interrupt_id: null,
        policy: null,
        created_at: 'x',
      };
      const until = { given: '2026-03-08T13:00:00.000Z', shown: '2026-03-08T13:00:00.000000Z' };
      const waits = [others, { ...ours, ...WAIT, expires_at: until.shown }];
      const world = await startInbox((seen) =>
        seen.method === 'POST' ? loss : { status: 200, body: { waits } },
      );
      const wait = await world.inbox.openWait({ ...WAIT, expires_at: until.given });
      expect(wait.wait_id).toBe('wait_1');
      expect(world.seen.map((one) => one.method)).toEqual(['POST', 'GET']);
    },
  );

  it('[K20] a wait that never arrived is opened', async () => {
    const world = await startInbox((seen, count) => {
      if (count === 1) return 'hang_up';
      return seen.method === 'POST' ? OPENED : { status: 200, body: { waits: [] } };
    });
    expect(await world.inbox.openWait(WAIT)).toMatchObject({ wait_id: 'wait_1' });
    expect(world.seen.map((one) => one.method)).toEqual(['POST', 'GET', 'POST']);
  });

  it('[K21][K41] waitFor stays until its own wait is resumed, and brings the event', async () => {
    const world = await startInbox(
      waiting((look) => {
        if (look === 1) return resumePage([resume('res_0', { wait_id: 'wait_0' })], 'c1', true);
        if (look === 2) return resumePage([], 'c2');
        return look < 5 ? { status: 204 } : resumePage([resume('res_1')], 'c3');
      }),
    );
    expect(await world.inbox.waitFor(WAIT)).toEqual({
      status: 'resumed',
      waitId: 'wait_1',
      resume: resume('res_1'),
      event: event('evt_1'),
    });
    // The server holds each further look; one that it lets go early is not asked again at once.
    expect(world.seen.filter((one) => one.url.startsWith('/akep/resumes')).map((one) => one.url)).toEqual([
      '/akep/resumes?limit=1000',
      '/akep/resumes?limit=1000&cursor=c1',
      ...Array(3).fill('/akep/resumes/wait?limit=1000&cursor=c2&timeout_seconds=50'),
    ]);
    expect(world.clock.naps).toEqual([1_000, 1_000]);
    expect(JSON.parse(world.seen[0]?.body ?? '').expires_at).toBe('2026-03-08T13:00:00.000Z');
    expect(world.logged()).toEqual(['wait_opened', 'resume']);
  });

  it('[K20] it never waits for ever, and ends its wait', async () => {
    const world = await startInbox(waiting((look) => (look === 1 ? resumePage([], 'c0') : { status: 204 })));
    const ended = await world.inbox.waitFor(WAIT, { timeoutMs: 5_000 });
    expect(ended).toEqual({ status: 'timed_out', waitId: 'wait_1' });
    expect(world.clock.naps).toEqual([1_000, 1_000, 1_000, 1_000, 1_000]);
    const held = world.seen.flatMap((one) => /timeout_seconds=(\d+)/.exec(one.url)?.[1] ?? []);
    expect(held).toEqual(['5', '4', '3', '2', '1']);
    expect(world.seen.some((one) => one.method === 'DELETE')).toBe(true);
  });

  it('[K20] when it is aborted it ends its wait, which would catch an event that nobody waits for', async () => {
    const stop = new AbortController();
    const world = await startInbox(
      waiting((look) => {
        if (look === 2) stop.abort(new Error('enough'));
        return look === 1 ? resumePage([], 'c0') : { status: 204 };
      }),
    );
    await expect(world.inbox.waitFor(WAIT, { signal: stop.signal })).rejects.toThrow();
    await vi.waitUntil(() => world.seen.at(-1)?.method === 'DELETE');
    expect(world.seen.at(-1)?.url).toBe('/akep/waits/wait_1');
  });

  it('[K21] a resume in the last moment is not lost', async () => {
    const world = await startInbox(waiting((look) => resumePage(look === 1 ? [] : [resume('res_1')], 'c1')));
    const ended = await world.inbox.waitFor(WAIT, { timeoutMs: 0 });
    expect(ended).toMatchObject({ status: 'resumed', resume: { resume_id: 'res_1' } });
  });
});

describe('subscriptions and policy', () => {
  it('[K18] are made with what an inbox needs, listed and removed', async () => {
    const made = { subscription_id: 'sub_1', event_types: ['tool.completed'], created_at: 'x' };
    const world = await startInbox((seen) => {
      if (seen.method === 'DELETE') return { status: 204 };
      return seen.method === 'POST'
        ? { status: 201, body: made }
        : { status: 200, body: { subscriptions: [made] } };
    });
    const filters = { 'subject.task_id': 'task_42' };
    expect(await world.inbox.subscribe({ event_types: ['tool.completed'], filters })).toEqual(made);
    expect(JSON.parse(world.seen.find((one) => one.method === 'POST')?.body ?? '')).toEqual({
      spec: 'akep.v1',
      sink: 'inbox',
      delivery: { type: 'long_poll' },
      event_types: ['tool.completed'],
      filters,
    });
    expect(await world.inbox.subscriptions()).toEqual([made]);
    await world.inbox.unsubscribe('sub_1');
    expect(world.seen.at(-1)?.url).toBe('/akep/subscriptions/sub_1');
  });

  /** Keeps subscriptions as the server does, and loses the first reply to each request that makes or ends one. */
  function forgetful(kept: Record<string, unknown>[]) {
    const lost = new Set<string>();
    return ({ method, url, body }: Seen): Said => {
      if (method === 'GET') return { status: 200, body: { subscriptions: [...kept] } };
      const isLost = !lost.has(method);
      lost.add(method);
      if (method === 'DELETE') {
        const at = kept.findIndex((one) => url.endsWith(String(one.subscription_id)));
        if (at < 0) return { status: 404 };
        kept.splice(at, 1);
        return isLost ? 'hang_up' : { status: 204 };
      }
      const made = { ...JSON.parse(body), subscription_id: `sub_${kept.length}`, created_at: 'x' };
      kept.push(made);
      return isLost ? 'hang_up' : { status: 201, body: { ...made, secret: 'whsec_x' } };
    };
  }
  const TAKEN = { spec: 'akep.v1', sink: 'inbox', event_types: ['tool.completed'] };

  it('[K18] one whose reply got lost is found instead of being made twice, and ended once', async () => {
    const delivery = { type: 'long_poll' };
    const kept = [{ ...TAKEN, delivery, subscription_id: 'sub_old', created_at: 'x' }];
    const world = await startInbox(forgetful(kept));
    const made = await world.inbox.subscribe({ event_types: ['tool.completed'] });
    expect([made.subscription_id, kept.length]).toEqual(['sub_1', 2]);
    await world.inbox.unsubscribe('sub_1');
    expect(kept.map((one) => one.subscription_id)).toEqual(['sub_old']);
    await expect(world.inbox.unsubscribe('sub_1')).rejects.toMatchObject({ fault: 'not_found' });
  });

  it('[K19] a forwarding one whose secret was lost with the reply is made again', async () => {
    const kept: Record<string, unknown>[] = [];
    const world = await startInbox(forgetful(kept));
    const delivery = { type: 'webhook', url: 'https://example.com/events' } as const;
    const made = await world.inbox.subscribe({ event_types: ['tool.completed'], delivery });
    expect(made.secret).toBe('whsec_x');
    expect(kept).toHaveLength(1);
  });

  it('[K18] an invalid one is refused with the path', async () => {
    const body = { error: 'The subscription is not valid.', path: '/event_types' };
    const world = await startInbox(() => ({ status: 400, body }));
    await expect(world.inbox.subscribe({ event_types: [] })).rejects.toMatchObject({
      fault: 'refused',
      wire: { field: '/event_types' },
    });
  });

  it('[K20] the policy is read and set', async () => {
    const policy = { max_resume_policy: 'append_only', show_reviews: true } as const;
    const world = await startInbox(() => ({ status: 200, body: policy }));
    expect(await world.inbox.policy()).toEqual(policy);
    expect(await world.inbox.setPolicy({ max_resume_policy: 'append_only' })).toEqual(policy);
    expect(world.seen.map((one) => one.method)).toEqual(['GET', 'PUT']);
    expect(world.seen[1]?.body).toBe('{"max_resume_policy":"append_only"}');
  });
});
