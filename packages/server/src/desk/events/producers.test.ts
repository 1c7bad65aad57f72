import { describe, expect, it } from 'vitest';
import { anEvent, openInbox, Sender } from '../../testing/akep/akep.ts';
import { body, openDesk, refused } from '../../testing/desk/desk.ts';
import { ManualClock, type World } from '../../testing/world.ts';

type Made = {
  producer_id: string;
  key_id: string;
  secret?: string;
  tier: string;
  keys: { key_id: string }[];
};
type Listed = { producers: (Made & { last_seen_at: string | null })[] };

const make = (world: World, over: Record<string, unknown> = {}) =>
  body<Made>(world.desk('POST', '/desk/producers', { name: 'Sense 2 AI', ...over }));

const list = async (world: World) => (await body<Listed>(world.desk('GET', '/desk/producers'))).producers;

/** Signs with what the desk has shown. */
function senderOf(world: World, made: { producer_id?: string; key_id: string; secret?: string }): Sender {
  const producer = { id: made.producer_id ?? '' };
  return new Sender(world, { producer, keyId: made.key_id, secret: made.secret ?? '' });
}

describe('producers', () => {
  it('[K31] are made with a secret that is shown once, and can send at once', async () => {
    const { world } = await openInbox();
    const made = await make(world, { tier: 'live' });
    expect(made).toMatchObject({ producer_id: 'prod_sense_2_ai', tier: 'live', keys: [{ algorithm: 'v1' }] });
    expect(made.secret).toMatch(/^whsec_/);
    expect(JSON.stringify(await list(world))).not.toContain('whsec_');
    const source = { producer_id: made.producer_id, name: 's', type: 'publisher' };
    const reply = await senderOf(world, made).send(anEvent({ source }));
    expect(reply.status).toBe(202);
  });

  it('[K31] with a public key there is no secret at all', async () => {
    const { world } = await openDesk();
    const made = await make(world, { public_key: `whpk_${'A'.repeat(43)}=` });
    expect(made.secret).toBeUndefined();
    expect(made.keys).toMatchObject([{ algorithm: 'v1a', key_id: made.key_id }]);
  });

  it.each([
    [{ name: '' }, 422, 'name'],
    [{ name: undefined }, 400, 'name'],
    [{ name: 'x'.repeat(81) }, 422, 'name'],
    [{ tier: 'gold' }, 422, 'tier'],
    [{ public_key: 'whpk_short' }, 422, 'public_key'],
    [{ name: 'Lanternroom home' }, 409, 'name'],
    [{ name: 'agent x' }, 409, 'name'],
  ])('[K31] %j is refused', async (over, status, field) => {
    const { world } = await openDesk();
    const reply = world.desk('POST', '/desk/producers', { name: 'fine', ...over });
    expect(await refused(reply)).toMatchObject({ status, field });
  });

  it('[K31] the same name again is refused', async () => {
    const { world } = await openDesk();
    await make(world);
    const reply = world.desk('POST', '/desk/producers', { name: 'sense-2-ai' });
    expect(await refused(reply)).toMatchObject({ status: 409, code: 'name_taken' });
  });

  it('[K31] keys are rotated and revoked', async () => {
    const { world } = await openInbox({ clock: new ManualClock() });
    const made = await make(world);
    const keys = `/desk/producers/${made.producer_id}/keys`;
    const fresh = await body<Made & { others_expire_at: string }>(world.desk('POST', keys));
    expect(fresh.others_expire_at).toBe('2026-11-19T09:00:00.000000Z');
    const [old, young] = [senderOf(world, made), senderOf(world, fresh)];
    expect([(await old.send(anEvent())).status, (await young.send(anEvent())).status]).toEqual([202, 202]);
    expect(await body(world.desk('DELETE', `${keys}/${made.key_id}`))).toEqual({ revoked: [made.key_id] });
    expect([(await old.send(anEvent())).status, (await young.send(anEvent())).status]).toEqual([400, 202]);
    expect(await refused(world.desk('DELETE', `${keys}/${made.key_id}`))).toMatchObject({ status: 404 });
    expect(await refused(world.desk('POST', '/desk/producers/prod_x/keys'))).toMatchObject({ status: 404 });
  });

  it('[K31] tell when they were last seen, in memory at once and after half a minute on disk', async () => {
    const clock = new ManualClock();
    const { world, sender } = await openInbox({ clock });
    const stored = () => world.room.store.read(world.space.id, (tx) => tx.producers.get(sender.id));
    expect((await list(world))[0]?.last_seen_at).toBeNull();
    clock.turn(60_000_000);
    await sender.sent();
    expect((await list(world))[0]?.last_seen_at).toBe('2026-11-15T09:01:00.000000Z');
    await world.tick(1);
    expect((await stored())?.lastSeenAt).toBe(clock.now() - 1);
    clock.turn(1_000_000);
    await sender.sent();
    await world.tick(1_000_000);
    expect((await stored())?.lastSeenAt).toBeLessThan(clock.now() - 1_500_000);
    await world.restart();
    expect((await list(world))[0]?.last_seen_at).toBe('2026-11-15T09:01:01.000001Z');
  });

  it('[K31] who is no owner may look and change nothing', async () => {
    const { world } = await openDesk();
    const made = await make(world);
    const { token } = await world.addPerson('d@example.com', 'decider');
    const path = `/desk/producers/${made.producer_id}`;
    for (const at of ['/desk/producers', `${path}/refused`])
      expect((await world.desk('GET', at, undefined, token)).status).toBe(200);
    const denied = [
      world.desk('POST', '/desk/producers', { name: 'x' }, token),
      world.desk('POST', `${path}/keys`, undefined, token),
      world.desk('DELETE', `${path}/keys/${made.key_id}`, undefined, token),
    ];
    for (const reply of denied)
      expect(await refused(reply)).toMatchObject({ status: 403, code: 'role_too_low' });
    const space = await world.addSpace('elsewhere');
    const stranger = await world.addPerson('s@example.com', 'owner', space);
    expect(await refused(world.desk('GET', `${path}/refused`, undefined, stranger.token))).toMatchObject({
      status: 404,
    });
  });
});
