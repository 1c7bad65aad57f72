import { hash } from 'node:crypto';
import { canonicalize } from 'json-canonicalize';
import { describe, expect, test } from 'vitest';
import { AT_ONCE, body, openDesk, refused } from '../../testing/desk/desk.ts';
import { sampleDelivery, type World } from '../../testing/world.ts';

type Detail = Record<string, unknown> & { content_sha256: string; decisions: unknown[] };

const detail = (world: World, id: string) => body<Detail>(world.desk('GET', `/desk/deliveries/${id}`));

/** Sends these very bytes. */
async function deliverBytes(world: World, bytes: string): Promise<string> {
  const reply = await world.post('/wake/v1/deliver', bytes);
  return ((await reply.json()) as { delivery_id: string }).delivery_id;
}

describe('one delivery', () => {
  test('[D10] is the same in capitals, at every address of it', async () => {
    const { world } = await openDesk({ env: AT_ONCE });
    const id = await world.deliver();
    const shouted = id.toUpperCase();
    expect(await detail(world, shouted)).toEqual(await detail(world, id));
    const asked: [string, string, unknown?][] = [
      ['GET', '/raw'],
      ['PUT', '/draft', { status: 'approved', feedback: 'so far' }],
      ['POST', '/read', {}],
      ['POST', '/snooze', { until: null }],
    ];
    for (const [method, path, sent] of asked) {
      const reply = await world.desk(method, `/desk/deliveries/${shouted}${path}`, sent);
      expect([path, reply.ok]).toEqual([path, true]);
    }
    expect(await body(world.decide(shouted, { status: 'approved' }))).toMatchObject({ delivery_id: id });
  });

  test('[D10] has everything that is needed to decide', async () => {
    const { world } = await openDesk();
    const sent: Record<string, unknown> = {
      ...sampleDelivery('agent-01'),
      task_id: 'task-1',
      thread_id: 'thread-1',
      interrupt_id: 'interrupt-1',
      allow_secrets: [{ path: '/x', reason: 'a sample' }],
      unknown_field: [1, null, { a: true }],
    };
    const id = await world.deliver(sent);
    expect(await detail(world, id)).toMatchObject({
      delivery_id: id,
      agent_id: 'agent-01',
      provider: 'claude',
      headline: sent.headline,
      summary: sent.summary,
      details: sent.details,
      timeout_seconds: 3600,
      callback_webhook: null,
      allow_secrets: sent.allow_secrets,
      task_id: 'task-1',
      thread_id: 'thread-1',
      interrupt_id: 'interrupt-1',
      status: 'pending',
      state: 'pending',
      content: sent,
      decision: null,
      decisions: [],
      callbacks: [],
      attempts: [],
    });
  });

  test('[D88] tells its place in its thread, with its nearest neighbours and what became of them', async () => {
    const { world } = await openDesk({ env: AT_ONCE });
    const ids: string[] = [];
    for (let i = 0; i < 9; i++) {
      ids.push(await world.deliver({ thread_id: 'close-of-q3', headline: `Step ${i + 1}` }));
      await world.deliver({ thread_id: 'another' });
    }
    await world.decide(ids[3] ?? '', { status: 'approved' });
    expect((await detail(world, ids[4] ?? '')).thread).toMatchObject({
      before: 4,
      after: 4,
      earlier: [
        { headline: 'Step 2', state: 'pending' },
        { headline: 'Step 3' },
        { headline: 'Step 4', state: 'decided', status: 'approved' },
      ],
      later: [{ headline: 'Step 6' }, { headline: 'Step 7' }, { headline: 'Step 8', delivery_id: ids[7] }],
    });
    expect((await detail(world, ids[0] ?? '')).thread).toMatchObject({ before: 0, after: 8 });
    expect((await detail(world, await world.deliver({ thread_id: 'alone' }))).thread).toEqual({
      before: 0,
      after: 0,
      earlier: [],
      later: [],
    });
    expect((await detail(world, await world.deliver())).thread).toBeNull();
  });

  test('[D10] content_sha256 is SHA-256 over the RFC 8785 form of the body as it was delivered', async () => {
    const { world } = await openDesk();
    const bytes = `{ "summary":"S\\u00e9 \\ud83d\\ude00", "headline" : "H", "type":"question",
      "provider":"p","agent_id":"agent-01", "details":{"z":1.50,"a":1e3,"m":[3, 2 ,-0.0],"€":"\\/"}}`;
    const id = await deliverBytes(world, bytes);
    const { content_sha256 } = await detail(world, id);
    expect(content_sha256).toBe(hash('sha256', canonicalize(JSON.parse(bytes))));
    const byHand =
      '{"agent_id":"agent-01","details":{"a":1000,"m":[3,2,0],"z":1.5,"€":"/"},"headline":"H","provider":"p","summary":"Sé 😀","type":"question"}';
    expect(content_sha256).toBe(hash('sha256', byHand));
  });

  test('[D10] the same values written in another way have the same hash, other values another', async () => {
    const { world } = await openDesk();
    const one = await deliverBytes(world, JSON.stringify(sampleDelivery('agent-01')));
    const two = await deliverBytes(world, JSON.stringify(sampleDelivery('agent-01'), null, 4));
    const three = await world.deliver({ details: { draft: 'Dear readers', readers: '1200' } });
    const hashes = await Promise.all(
      [one, two, three].map(async (id) => (await detail(world, id)).content_sha256),
    );
    expect(hashes[0]).toBe(hashes[1]);
    expect(hashes[2]).not.toBe(hashes[0]);
  });

  test('[D10] raw gives the exact bytes, as an attachment that no browser runs', async () => {
    const { world } = await openDesk();
    const bytes = `${JSON.stringify(sampleDelivery('agent-01'), null, 3)}\r\n\t `;
    const id = await deliverBytes(world, bytes);
    const reply = await world.desk('GET', `/desk/deliveries/${id}/raw`);
    expect(await reply.text()).toBe(bytes);
    expect(reply.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(reply.headers.get('content-disposition')).toBe(`attachment; filename="${id}.json"`);
    expect(reply.headers.get('x-content-type-options')).toBe('nosniff');
  });

  test('[D10] a decision is shown with who, when and what, undone ones too', async () => {
    const { world } = await openDesk();
    const id = await world.deliver();
    await world.decide(id, { status: 'rejected', feedback: 'not yet' });
    await world.desk('DELETE', `/desk/deliveries/${id}/decision`);
    await world.decide(id, { status: 'redirected', edited_content: { readers: 5 } });
    const shown = await detail(world, id);
    expect(shown.decisions).toMatchObject([
      { status: 'rejected', state: 'undone', feedback: 'not yet', edited_content: null },
      { status: 'redirected', state: 'held', feedback: null, edited_content: { readers: 5 } },
    ]);
    expect(shown.decision).toEqual(shown.decisions[1]);
    expect(shown).toMatchObject({ state: 'held', decision: { decided_by: { name: 'Olga Owner' } } });
  });

  test('[D10] nothing that is not there is shown', async () => {
    const { world } = await openDesk({ env: AT_ONCE });
    for (const id of ['x', '00000000-0000-4000-8000-000000000000', '%00', 'a'.repeat(3000)]) {
      const reply = world.desk('GET', `/desk/deliveries/${id}`);
      expect(await refused(reply)).toEqual({ status: 404, code: 'not_found' });
    }
  });
});
