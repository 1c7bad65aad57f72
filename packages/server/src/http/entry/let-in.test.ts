import { once } from 'node:events';
import { request as ask } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { revokeKeys } from '../../core/agents/keys.ts';
import { isFault, orThrow } from '../../core/faults.ts';
import { changePassword } from '../../core/people/login/account.ts';
import { type Doorkeeper, login, openSession } from '../../core/people/login/login.ts';
import { addToken } from '../../core/people/login/tokens.ts';
import { changeRole, removePerson } from '../../core/people/membership/membership.ts';
import { resetPerson } from '../../core/people/membership/reset.ts';
import type { Person } from '../../core/people/person.ts';
import { revokeCallerToken } from '../../core/tasks/callers/callers.ts';
import {
  aCallerToken,
  aLaptop,
  anAgent,
  changeCard,
  SseReader,
  TestCaller,
  v1Message,
  v03Message,
} from '../../testing/a2a/a2a.ts';
import { scripted } from '../../testing/a2a/scripted-agent.ts';
import { sampleDelivery, World } from '../../testing/world.ts';

let world: World;
beforeAll(async () => {
  world = await World.open({ env: { LANTERNROOM_UNDO_SECONDS: '0' } });
});
afterAll(() => world.stop());

type Sending = { path: string; key?: string; cookie?: string; body: unknown; type?: string };

/** Sends a request that is let in before `meanwhile` runs; its body ends only afterwards. */
async function heldBack(
  { path, key, cookie, body, type = 'application/json' }: Sending,
  meanwhile: () => unknown,
) {
  const bytes = Buffer.from(JSON.stringify(body));
  const headers = {
    ...(cookie === undefined ? { authorization: `Bearer ${key}` } : { cookie }),
    'content-type': type,
    'content-length': bytes.length,
  };
  const sent = ask(world.url + path, { method: 'POST', headers: { ...headers, expect: '100-continue' } });
  onTestFinished(() => void sent.destroy());
  sent.flushHeaders();
  await once(sent, 'continue');
  sent.write(bytes.subarray(0, 3));
  await fetch(`${world.url}/healthz`);
  await meanwhile();
  sent.end(bytes.subarray(3));
  const [reply] = await once(sent, 'response');
  return { status: reply.statusCode as number, text: await text(reply) };
}

let people = 0;
const aPerson = (role: 'owner' | 'decider') => world.addPerson(`person-${++people}@example.com`, role);

describe('a body that was held back', () => {
  it('[W28][D44] brings nothing to whoever was removed or given another role meanwhile', async () => {
    const gone = await aPerson('owner');
    const invitation = { email: 'friend@example.com', role: 'owner' };
    const invited = await heldBack({ path: '/desk/invitations', key: gone.token, body: invitation }, () =>
      removePerson(world.room, world.owner, gone.person.id),
    );
    expect(invited.status).toBe(401);
    const lower = await aPerson('owner');
    const made = await heldBack({ path: '/desk/agents', key: lower.token, body: { agent_id: 'mine' } }, () =>
      changeRole(world.room, world.owner, lower.person.id, 'reader'),
    );
    expect(made).toMatchObject({ status: 403, text: expect.stringContaining('role_too_low') });
    const { invitations } = (await (await world.desk('GET', '/desk/invitations')).json()) as {
      invitations: unknown[];
    };
    expect(invitations).toEqual([]);
  });

  it('[W28][D56] makes no token for whoever was reset meanwhile', async () => {
    const { person } = await aPerson('decider');
    const { token } = orThrow(await openSession(world.room, person, null));
    const reset = () => resetPerson(world.room, world.owner, person.id);
    const made = await heldBack(
      { path: '/desk/tokens', cookie: `lanternroom=${token}`, body: { name: 'still here' } },
      reset,
    );
    expect(made.status).toBe(401);
    const tokens = await world.room.store.read(world.space.id, (tx) => tx.people.listTokens(person.id));
    expect(tokens.filter(({ revokedAt }) => revokedAt === null)).toEqual([]);
  });

  const TARGETS: [string, (agent: string) => Omit<Sending, 'key'>][] = [
    ['a delivery', (agent) => ({ path: '/wake/v1/deliver', body: sampleDelivery(agent) })],
    [
      'one that goes the long way',
      (agent) => ({
        path: '/wake/v1/deliver',
        body: sampleDelivery(agent),
        type: 'application/json; charset=UTF-8',
      }),
    ],
    [
      'a subscription',
      () => ({ path: '/akep/subscriptions', body: { sink: 'inbox', event_types: ['*'], delivery: {} } }),
    ],
    [
      'a message to an agent',
      (agent) => ({
        path: `/@home/${agent}`,
        body: { jsonrpc: '2.0', id: 1, method: 'message/send', params: v03Message('hello') },
      }),
    ],
    ['a call over MCP', () => ({ path: '/mcp', body: { jsonrpc: '2.0', id: 1, method: 'tools/list' } })],
  ];

  it.each(TARGETS)('[W28][W1] is not taken from a key that was revoked meanwhile: %s', async (_, of) => {
    const { agent, key, keyId } = await anAgent(world);
    const at = { space: world.space.id, agent: agent.id, keyId };
    const { status } = await heldBack({ ...of(agent.id), key }, () => revokeKeys(world.room, at, 'test'));
    expect([401, 403]).toContain(status);
  });
});

describe('what lasts', () => {
  it('[W28][A20] an upload of a key that was revoked is not taken', async () => {
    const made = await anAgent(world);
    const { agent, key, keyId } = made;
    const caller = new TestCaller(world, made, { key, version: '0.3' });
    const { result } = await caller.call('message/send', v03Message('hello'));
    const { id } = result as { id: string };
    const at = { space: world.space.id, agent: agent.id, keyId };
    const upload = { path: `/a2a/uploads?taskId=${id}`, key, body: 'content', type: 'text/plain' };
    const { status } = await heldBack(upload, () => revokeKeys(world.room, at, 'test'));
    expect(status).toBe(401);
  });

  it('[W28][W1] a wait of a key that was revoked is told no answer', async () => {
    const { agent, key, keyId } = await anAgent(world);
    const id = await world.deliver({ agent_id: agent.id }, key);
    const waiting = world.get(`/wake/v1/response/${id}?wait=60`, key);
    await fetch(`${world.url}/healthz`);
    await revokeKeys(world.room, { space: world.space.id, agent: agent.id, keyId }, 'test');
    await world.decide(id, { status: 'approved', feedback: 'between us' });
    const reply = await waiting;
    expect([reply.status, await reply.text()]).toEqual([401, expect.not.stringContaining('between us')]);
  });

  it('[W28][A21] a stream of a caller whose token was revoked ends and tells nothing more', async () => {
    const agent = await anAgent(world);
    await changeCard(world, agent, { visibility: 'listed' });
    const token = await aCallerToken(world, agent);
    const caller = new TestCaller(world, agent, { key: token, version: '1.0' });
    const reader = await SseReader.open(caller.stream('SendStreamingMessage', v1Message('artifacts')));
    await reader.next();
    const at = { space: world.space.id, agent: agent.agent.id };
    const [listed] = await world.room.store.read(at.space, (tx) => tx.callers.list(at.agent));
    orThrow(await revokeCallerToken(world.room, { ...at, id: listed?.id ?? '' }, 'test'));
    await aLaptop(world, agent, scripted);
    expect(await reader.rest()).toEqual([]);
  });
});

describe('while a password is looked at', () => {
  /** A room in which the person is reset at that very moment. */
  function resetting(person: Person): Doorkeeper {
    const { room } = world;
    const matches: Doorkeeper['passwords']['matches'] = async (...given) => {
      const right = await room.passwords.matches(...given);
      orThrow(await resetPerson(room, world.owner, person.id));
      return right;
    };
    return { ...room, passwords: { hash: (password) => room.passwords.hash(password), matches } };
  }
  const password = 'correct horse battery';

  it('[W28][D56] a reset leaves no way in: no session, no password, no token', async () => {
    const { person } = await aPerson('decider');
    const attempt = { email: person.email, password, handle: null, address: '127.0.0.1', device: null };
    expect(await login(resetting(person), attempt)).toMatchObject({ fault: 'login_failed' });
    const sessions = await world.room.store.read(person.space, (tx) => tx.people.listSessions(person.id));
    expect(sessions).toEqual([]);

    const other = (await aPerson('decider')).person;
    const change = { current: password, password: 'another horse', address: '127.0.0.1', session: null };
    expect(await changePassword(resetting(other), other, change)).toMatchObject({ fault: 'session_expired' });
    expect(isFault(await addToken(world.room, other, 'late'))).toBe(true);
    const now = await world.room.store.read(other.space, (tx) => tx.people.get(other.id));
    expect(now?.passwordHash).toBeNull();
  });
});
