import { describe, expect, test } from 'vitest';
import { body, openDesk, refused } from '../../testing/desk/desk.ts';

const FRESH = {
  theme: 'system',
  density: 'comfortable',
  size: 'normal',
  keys: {},
  keys_off: false,
  time_zone: 'UTC',
  sittings: [],
  quiet: null,
  digest: { kind: 'off', target: null },
};

describe('preferences', () => {
  test('[D39] are calm on a fresh install', async () => {
    const { world } = await openDesk();
    expect(await body(world.desk('GET', '/desk/preferences'))).toEqual(FRESH);
  });

  test('[D39] change field by field, per person, and survive a restart', async () => {
    const { world } = await openDesk();
    const other = await world.addPerson('r@example.com', 'reader');
    await body(world.desk('PUT', '/desk/preferences', { theme: 'dark' }));
    const change = {
      keys: { approve: 'y' },
      time_zone: 'Europe/Vienna',
      sittings: [{ days: [5, 1, 1], at: '09:00' }],
      quiet: { from: '22:00', to: '07:00' },
    };
    const expected = { ...FRESH, theme: 'dark', ...change, sittings: [{ days: [1, 5], at: '09:00' }] };
    expect(await body(world.desk('PUT', '/desk/preferences', change))).toEqual(expected);
    await world.restart();
    expect(await body(world.desk('GET', '/desk/preferences'))).toEqual(expected);
    expect(await body(world.desk('GET', '/desk/preferences', undefined, other.token))).toEqual(FRESH);
  });

  test('[D39] what was read can be written back as it is', async () => {
    const { world } = await openDesk();
    const target = 'https://hooks.example.com/in?token=abc';
    await body(world.desk('PUT', '/desk/preferences', { digest: { kind: 'webhook', target } }));
    const read = await body(world.desk('GET', '/desk/preferences'));
    expect(read).toMatchObject({ digest: { kind: 'webhook', target } });
    expect(await body(world.desk('PUT', '/desk/preferences', read))).toEqual(read);
  });

  test.each([
    ['theme', { theme: 'pink' }],
    ['density', { density: 3 }],
    ['size', { size: 'huge' }],
    ['keys', { keys: { approve: 7 } }],
    ['keys', { keys: { 'Not A Name': 'a' } }],
    ['keys_off', { keys_off: 'yes' }],
    ['time_zone', { time_zone: '+01:00' }],
    ['time_zone', { time_zone: 'Europe/Nowhere' }],
    ['sittings', { sittings: [{ days: [0], at: '09:00' }] }],
    ['sittings', { sittings: [{ days: [], at: '09:00' }] }],
    ['sittings', { sittings: [{ days: [1], at: '24:00' }] }],
    ['sittings', { sittings: Array.from({ length: 13 }, () => ({ days: [1], at: '09:00' })) }],
    ['quiet', { quiet: { from: '22:00', to: '22:00' } }],
    ['quiet', { quiet: { from: '22:00' } }],
    ['digest.kind', { digest: { kind: 'sms', target: 'x' } }],
    ['digest.target', { digest: { kind: 'webhook', target: 'http://hooks.example.com/in' } }],
    ['digest.target', { digest: { kind: 'webhook', target: 'https://127.0.0.1/in' } }],
    ['digest.target', { digest: { kind: 'webhook', target: 'https://me:pw@hooks.example.com/' } }],
    ['sound', { sound: true }],
    // Every object has these.
    ['toString', { toString: 1 }],
    ['valueOf', { valueOf: 1 }],
  ])('[D39] refuse a wrong %s, by its name, and change nothing', async (field, change) => {
    const { world } = await openDesk();
    expect(await refused(world.desk('PUT', '/desk/preferences', { theme: 'dark', ...change }))).toEqual({
      status: 422,
      code: 'invalid_field',
      field,
    });
    expect(await body(world.desk('GET', '/desk/preferences'))).toEqual(FRESH);
  });

  test('[D39] refuse e-mail on a server that cannot send any, and say why', async () => {
    const { world } = await openDesk();
    const digest = { kind: 'email', target: 'me@example.com' };
    const reply = await world.desk('PUT', '/desk/preferences', { digest });
    expect(reply.status).toBe(422);
    expect(await reply.text()).toContain('LANTERNROOM_SMTP_URL');
  });

  test('[D39] the address of a digest is sealed, and the ledger does not know it', async () => {
    const { world } = await openDesk();
    const target = 'https://hooks.example.com/canarysecret';
    await body(world.desk('PUT', '/desk/preferences', { digest: { kind: 'webhook', target } }));
    const stored = await world.room.store.read(world.space.id, (tx) => tx.preferences.get(world.owner.id));
    expect(
      JSON.stringify({ ...stored, target: Buffer.from(stored?.target ?? []).toString('latin1') }),
    ).not.toContain('canary');
    expect(await (await world.desk('GET', '/desk/audit')).text()).not.toContain('canary');
  });
});
