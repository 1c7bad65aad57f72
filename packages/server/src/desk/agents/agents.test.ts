import { describe, expect, test } from 'vitest';
import { OVERLAP, revokeKeys } from '../../core/agents/keys.ts';
import { SECOND } from '../../core/time.ts';
import { body, openDesk, refused, status } from '../../testing/desk/desk.ts';
import type { World } from '../../testing/world.ts';

type Made = { agent_id: string; key: string; callback_secret: string; keys: { key_id: string }[] };
type MadeKey = { key: string; key_id: string; others_expire_at: string | null };

const works = async (world: World, key: string) =>
  (await world.get('/wake/v1/responses', key)).status === 200;
const make = (world: World, over: object = {}) =>
  body<Made>(world.desk('POST', '/desk/agents', { agent_id: 'fresh', ...over }));
const addKey = (world: World, sent: object = {}) =>
  body<MadeKey>(world.desk('POST', '/desk/agents/agent-01/keys', sent));

/** Everything about agents that the desk ever shows. */
async function shown(world: World): Promise<string> {
  const paths = [
    '/desk/agents',
    '/desk/agents/fresh',
    '/desk/agents/agent-01',
    '/desk/audit',
    '/desk/audit/export',
  ];
  return (await Promise.all(paths.map(async (path) => (await world.desk('GET', path)).text()))).join('\n');
}

describe('making an agent', () => {
  test('[D19] shows key and secret in that one reply, and never again', async () => {
    const { world } = await openDesk();
    const made = await make(world);
    expect(made.key).toMatch(/^wk_test_[0-9A-Za-z]{38}$/);
    expect(made.callback_secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(await works(world, made.key)).toBe(true);
    const text = await shown(world);
    expect(text).toContain(made.key.slice(-4));
    for (const secret of [made.key, made.key.slice(8), made.callback_secret, made.callback_secret.slice(6)]) {
      expect(text).not.toContain(secret);
    }
  });

  test('[D19] a live one when asked for', async () => {
    const { world } = await openDesk();
    expect((await make(world, { tier: 'live' })).key).toMatch(/^wk_live_/);
  });

  test.each([
    [{ agent_id: 'agent-01' }, { status: 409, code: 'name_taken', field: 'agent_id' }],
    [{ agent_id: undefined }, { status: 400, code: 'missing_field', field: 'agent_id' }],
    [{ agent_id: '-x' }, { status: 422, code: 'invalid_field', field: 'agent_id' }],
    [{ agent_id: 'x/y' }, { status: 422, code: 'invalid_field', field: 'agent_id' }],
    [{ agent_id: 'x'.repeat(129) }, { status: 422, code: 'invalid_field', field: 'agent_id' }],
    [{ tier: 'gold' }, { status: 422, code: 'invalid_field', field: 'tier' }],
    [{ callbacks: 'https://example.com' }, { status: 422, code: 'invalid_field', field: 'callbacks' }],
    [
      { callbacks: ['https://example.com', 'http://example.com'] },
      { status: 422, code: 'invalid_field', field: 'callbacks' },
    ],
  ])('[D19] %j is refused', async (over, expected) => {
    const { world } = await openDesk();
    expect(await refused(world.desk('POST', '/desk/agents', { agent_id: 'fresh', ...over }))).toEqual(
      expected,
    );
  });
});

describe('keys', () => {
  test('[D19] a further one works beside the others', async () => {
    const { world } = await openDesk();
    const made = await addKey(world, { tier: 'live' });
    expect(made).toMatchObject({ tier: 'live', others_expire_at: null });
    expect(await works(world, world.agent.key)).toBe(true);
    expect(await works(world, made.key)).toBe(true);
    expect(await shown(world)).not.toContain(made.key.slice(8));
  });

  test('[D19] rotating leaves the old one valid for the overlap, and no longer', async () => {
    const { world, clock } = await openDesk();
    const made = await addKey(world, { rotate: true });
    expect(made.others_expire_at).toBe('2026-11-16T09:00:00.000000Z');
    clock.turn(OVERLAP - SECOND);
    expect([await works(world, world.agent.key), await works(world, made.key)]).toEqual([true, true]);
    clock.turn(SECOND);
    expect([await works(world, world.agent.key), await works(world, made.key)]).toEqual([false, true]);
  });

  test('[D19][W4] rotated after all were revoked, as after a leak, it keeps their tier, and nothing overlaps', async () => {
    const { world } = await openDesk();
    await make(world, { tier: 'live' });
    const revoke = () => revokeKeys(world.room, { space: world.space.id, agent: 'fresh' }, 'operator');
    expect(await revoke()).toMatchObject({ revoked: [expect.any(String)] });
    expect(await revoke()).toMatchObject({ message: 'This agent has no active key any more.' });
    const made = await body(world.desk('POST', '/desk/agents/fresh/keys', { rotate: true }));
    expect(made).toMatchObject({ tier: 'live', others_expire_at: null });
  });

  test('[D19] rotating twice does not give an old key a longer life', async () => {
    const { world, clock } = await openDesk();
    await addKey(world, { rotate: true });
    clock.turn(OVERLAP - SECOND);
    await addKey(world, { rotate: true });
    clock.turn(SECOND);
    expect(await works(world, world.agent.key)).toBe(false);
  });

  test('[D19] revoking ends one at once, on the running server and after a restart', async () => {
    const { world } = await openDesk();
    const made = await addKey(world);
    const revoke = () => world.desk('DELETE', `/desk/agents/agent-01/keys/${world.agent.keyId}`);
    expect(await works(world, world.agent.key)).toBe(true);
    expect(await body(revoke())).toEqual({ revoked: [world.agent.keyId] });
    expect([await works(world, world.agent.key), await works(world, made.key)]).toEqual([false, true]);
    expect(await status(revoke())).toBe(404);
    await world.restart();
    expect([await works(world, world.agent.key), await works(world, made.key)]).toEqual([false, true]);
  });

  test('[D19] a key is revoked through its own agent only', async () => {
    const { world } = await openDesk();
    await make(world);
    expect(await status(world.desk('DELETE', `/desk/agents/fresh/keys/${world.agent.keyId}`))).toBe(404);
    expect(await works(world, world.agent.key)).toBe(true);
  });

  test('[D19] no key can be made for an agent that is not there', async () => {
    const { world } = await openDesk();
    expect(await status(world.desk('POST', '/desk/agents/nobody/keys', {}))).toBe(404);
    expect(await status(world.desk('POST', '/desk/agents/nobody/callback-secret'))).toBe(404);
  });
});

describe('the callback allowlist', () => {
  test('[D20] is set as a whole, and every entry is checked', async () => {
    const { world } = await openDesk();
    const put = (callbacks: unknown) => world.desk('PUT', '/desk/agents/agent-01/callbacks', { callbacks });
    const good = ['https://example.com/hooks', 'http://127.0.0.1:8080'];
    expect(await body(put(good))).toEqual({ agent_id: 'agent-01', callbacks: good });
    const bad = [
      'http://example.com',
      'https://user:pass@example.com',
      'https://*.example.com',
      'https://example.com/?q',
      'https://example.com/#x',
      'ftp://example.com',
      'example.com',
      '',
    ];
    for (const entry of bad) {
      expect(await refused(put([...good, entry]))).toEqual({
        status: 422,
        code: 'invalid_field',
        field: 'callbacks',
      });
    }
    expect(await refused(put([...good, 7]))).toMatchObject({ status: 422 });
    expect(await refused(put(Array(101).fill('https://example.com')))).toMatchObject({ status: 422 });
    expect(await body(world.desk('GET', '/desk/agents/agent-01'))).toMatchObject({ callbacks: good });
  });

  test('[D20] counts for the very next delivery', async () => {
    const { world } = await openDesk();
    const callback_webhook = 'https://example.com/hooks/1';
    const deliver = () => world.deliver({ callback_webhook });
    await expect(deliver()).rejects.toThrow('target_not_allowed');
    await body(
      world.desk('PUT', '/desk/agents/agent-01/callbacks', { callbacks: ['https://example.com/hooks'] }),
    );
    await deliver();
    await body(world.desk('PUT', '/desk/agents/agent-01/callbacks', { callbacks: [] }));
    await expect(deliver()).rejects.toThrow('target_not_allowed');
  });
});
