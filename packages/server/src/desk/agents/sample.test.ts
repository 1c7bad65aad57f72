import { describe, expect, test } from 'vitest';
import { body, openDesk, refused, status } from '../../testing/desk/desk.ts';

type Row = { delivery_id: string; type: string; section: string; sample: boolean; revision: number };
type Made = { agent_id: string; sample: boolean; deliveries: string[] };

async function rows(world: Awaited<ReturnType<typeof openDesk>>['world'], query = ''): Promise<Row[]> {
  return (await body<{ deliveries: Row[] }>(world.desk('GET', `/desk/deliveries${query}`))).deliveries;
}

describe('the sample', () => {
  test('[D40] shows one of each type in its place, all marked', async () => {
    const { world } = await openDesk();
    const real = await world.deliver();
    const reply = await world.desk('POST', '/desk/sample');
    expect(reply.status).toBe(201);
    const made = (await reply.json()) as Made;
    expect(made).toMatchObject({ agent_id: 'sample-agent', sample: true });
    const open = await rows(world);
    expect(open.filter((r) => r.sample).map((r) => [r.section, r.type])).toEqual([
      ['needs_you', 'question'],
      ['needs_you', 'output'],
      ['alerts', 'alert'],
      ['to_read', 'update'],
    ]);
    expect(open.find((r) => r.delivery_id === real)?.sample).toBe(false);
    const earlier = await rows(world, '?section=earlier');
    expect(earlier.map((r) => r.type)).toEqual(['output']);
    expect(open.find((r) => r.type === 'output')?.revision).toBe(2);
    const { agents } = await body<{ agents: { agent_id: string; sample: boolean; keys: unknown[] }[] }>(
      world.desk('GET', '/desk/agents'),
    );
    expect(agents.map((a) => [a.agent_id, a.sample, a.keys.length])).toEqual([
      ['agent-01', false, 1],
      ['sample-agent', true, 0],
    ]);
  });

  test('[D40] a second click makes nothing twice', async () => {
    const { world } = await openDesk();
    const first = await body<Made>(world.desk('POST', '/desk/sample'));
    const second = await body<Made>(world.desk('POST', '/desk/sample'));
    expect(second).toEqual(first);
    expect((await rows(world)).length).toBe(4);
  });

  test('[D40] can be decided like anything else, and then goes without a trace but the ledger', async () => {
    const { world } = await openDesk({ env: { LANTERNROOM_UNDO_SECONDS: '0' } });
    const made = await body<Made>(world.desk('POST', '/desk/sample'));
    const real = await world.deliver();
    const question = (await rows(world)).find((r) => r.type === 'question');
    const id = question?.delivery_id ?? '';
    await world.desk('PUT', `/desk/deliveries/${made.deliveries[4]}/draft`, { feedback: 'hm' });
    expect(await status(world.decide(id, { status: 'approved', feedback: 'go' }))).toBe(200);
    expect(await status(world.desk('DELETE', '/desk/sample'))).toBe(204);
    expect((await rows(world)).map((r) => r.delivery_id)).toEqual([real]);
    expect(await rows(world, '?section=earlier')).toEqual([]);
    expect((await body<{ decisions: unknown[] }>(world.desk('GET', '/desk/history'))).decisions).toEqual([]);
    expect(await status(world.desk('GET', '/desk/agents/sample-agent'))).toBe(404);
    const audit = await (await world.desk('GET', '/desk/audit')).text();
    expect(audit).toContain('sample.added');
    expect(audit).toContain('sample.removed');
    expect(await body(world.desk('GET', '/desk/audit/verify'))).toMatchObject({ ok: true });
  });

  test('[D40] comes back fresh after it was removed', async () => {
    const { world } = await openDesk();
    const first = await body<Made>(world.desk('POST', '/desk/sample'));
    await world.desk('DELETE', '/desk/sample');
    await world.tick(1);
    const second = await body<Made>(world.desk('POST', '/desk/sample'));
    expect(second.deliveries.filter((id) => first.deliveries.includes(id))).toEqual([]);
    expect((await rows(world)).length).toBe(4);
  });

  test('[D40] needs an owner, and does not take over an agent of that name', async () => {
    const { world } = await openDesk();
    const decider = await world.addPerson('d@example.com', 'decider');
    expect(await status(world.desk('POST', '/desk/sample', undefined, decider.token))).toBe(403);
    expect((await refused(world.desk('DELETE', '/desk/sample'))).status).toBe(404);
    await world.addAgent({ id: 'sample-agent' });
    expect(await refused(world.desk('POST', '/desk/sample'))).toMatchObject({
      status: 409,
      code: 'name_taken',
    });
    expect((await refused(world.desk('DELETE', '/desk/sample'))).status).toBe(404);
  });
});

test('[D40] the inbox of the sample is gone with it, and starts anew', async () => {
  const { world } = await openDesk({ env: { LANTERNROOM_UNDO_SECONDS: '0' } });
  const inbox = () =>
    world.room.store.read(world.space.id, async (tx) => {
      const heads = await tx.leftovers.heads('', 1000);
      return {
        entries: (await tx.entries.front('sample-agent', 10)).length,
        heads: heads.map(({ name }) => name).filter((name) => name.includes('sample-agent')),
      };
    });
  await world.desk('POST', '/desk/sample');
  const question = (await rows(world)).find((r) => r.type === 'question');
  await world.decide(question?.delivery_id ?? '', { status: 'approved' });
  expect(await inbox()).toMatchObject({ entries: 1, heads: expect.arrayContaining(['inbox:sample-agent']) });
  await world.desk('DELETE', '/desk/sample');
  expect(await inbox()).toEqual({ entries: 0, heads: [] });
});
