import { describe, expect, it } from 'vitest';
import type { MadeAgent } from '../../core/agents/found.ts';
import { addKey, revokeKeys } from '../../core/agents/keys.ts';
import { orThrow } from '../../core/faults.ts';
import { revokeToken } from '../../core/people/login/tokens.ts';
import { removePerson } from '../../core/people/membership/membership.ts';
import { resetPerson } from '../../core/people/membership/reset.ts';
import { revokeCallerToken } from '../../core/tasks/callers/callers.ts';
import {
  aCallerToken,
  aLaptop,
  anAgent,
  changeCard,
  SseReader as TaskStream,
  TestCaller,
  useWorld,
  v1Message,
} from '../../testing/a2a/a2a.ts';
import { Laptop } from '../../testing/a2a/laptop.ts';
import { SseReader as InboxStream, Relay } from '../../testing/akep/akep-live.ts';
import { untilParked, untilStreaming } from '../../testing/waiting.ts';

const world = useWorld();

/** Nothing else happens in these tests: whatever waits can only end because its way in has. */
describe('at once, and without any other news', () => {
  const revoke = ({ agent, keyId }: MadeAgent) =>
    revokeKeys(world().room, { space: world().space.id, agent: agent.id, keyId }, 'test').then(orThrow);

  const waits: [string, number, (agent: MadeAgent) => Promise<string>][] = [
    [
      'an answer',
      401,
      async ({ agent, key }) => `response/${await world().deliver({ agent_id: agent.id }, key)}`,
    ],
    ['an event', 403, async () => '/akep/events/wait?timeout_seconds=60'],
    ['a resume', 403, async () => '/akep/resumes/wait?timeout_seconds=60'],
  ];
  it.each(waits)('[W28] a wait for %s ends with its key', async (_, status, toPath) => {
    const agent = await anAgent(world());
    const path = await toPath(agent);
    const waiting = world().get(path.startsWith('/') ? path : `/wake/v1/${path}?wait=60`, agent.key);
    await untilParked(world(), 1);
    await revoke(agent);
    expect((await waiting).status).toBe(status);
  });

  it('[W28] a wait with another key of the same agent goes on', async () => {
    const agent = await anAgent(world());
    const at = { space: world().space.id, agent: agent.agent.id };
    const other = orThrow(await addKey(world().room, { ...at, tier: null, rotate: false }, 'test'));
    const id = await world().deliver({ agent_id: agent.agent.id }, agent.key);
    const [ending, staying] = [agent.key, other.key].map((key) =>
      world().get(`/wake/v1/response/${id}?wait=60`, key),
    );
    await untilParked(world(), 2);
    await revoke(agent);
    expect((await ending)?.status).toBe(401);
    await untilParked(world(), 1);
    await world().post(`/wake/v1/withdraw/${id}`, { reason: 'Not needed.' }, other.key);
    expect((await staying)?.status).toBe(200);
  });

  it('[W28][K37] a live reader of the inbox ends with its key', async () => {
    const agent = await anAgent(world());
    const stream = await InboxStream.open(world(), {}, '', agent.key);
    const relay = await Relay.open(world(), '', agent.key);
    await untilStreaming(world(), 1);
    await revoke(agent);
    expect(await stream.rest()).toMatchObject([{ event: 'reconnect' }]);
    expect((await relay.closed).code).toBe(1008);
  });

  it('[W28][A13] a laptop that is connected is sent away with its key', async () => {
    const agent = await anAgent(world());
    const laptop = await Laptop.connect(world().url, agent.key);
    await revoke(agent);
    expect(await laptop.closed).toEqual({ code: 1008, reason: 'this key is no longer valid' });
  });

  const dismissals: [
    string,
    (agent: MadeAgent) => Promise<{ key: string | null; end(): Promise<unknown> }>,
  ][] = [
    [
      "a caller's token is revoked",
      async (agent) => {
        await changeCard(world(), agent, { visibility: 'listed' });
        const key = await aCallerToken(world(), agent);
        const at = { space: world().space.id, agent: agent.agent.id };
        const [made] = await world().room.store.read(at.space, (tx) => tx.callers.list(at.agent));
        return { key, end: () => revokeCallerToken(world().room, { ...at, id: made?.id ?? '' }, 'test') };
      },
    ],
    [
      "another agent's key is revoked",
      async () => {
        const caller = await anAgent(world());
        return { key: caller.key, end: () => revoke(caller) };
      },
    ],
    [
      'an agent is no longer open to everybody',
      async (agent) => {
        await changeCard(world(), agent, { visibility: 'public' });
        return { key: null, end: () => changeCard(world(), agent, { visibility: 'space' }) };
      },
    ],
    [
      "a person's token is revoked",
      () => aPersonWho(({ person, id }) => revokeToken(world().room, person, id)),
    ],
    [
      'a person is removed',
      () => aPersonWho(({ person: { id } }) => removePerson(world().room, world().owner, id)),
    ],
    [
      'a person is reset',
      () => aPersonWho(({ person: { id } }) => resetPerson(world().room, world().owner, id)),
    ],
  ];

  type Known = { person: Awaited<ReturnType<typeof newPerson>>['person']; id: string };

  let people = 0;
  const newPerson = () => world().addPerson(`caller-${++people}@example.com`, 'decider');

  async function aPersonWho(ends: (known: Known) => Promise<unknown>) {
    const { person, token } = await newPerson();
    const [made] = await world().room.store.read(world().space.id, (tx) => tx.people.listTokens(person.id));
    return { key: token, end: () => ends({ person, id: made?.id ?? '' }) };
  }

  it.each(dismissals)('[W28][A21] a call that waits, and a stream, end when %s', async (_, toCaller) => {
    const agent = await anAgent(world());
    const { key, end } = await toCaller(agent);
    const laptop = await aLaptop(world(), agent);
    const caller = new TestCaller(world(), agent, { key, version: '1.0' });
    const waiting = caller.stream('SendMessage', v1Message('wait'));
    const { taskId } = await laptop.ofType('task');
    await untilParked(world(), 1);
    const streaming = caller.stream('SendStreamingMessage', v1Message('stream'));
    const other = await laptop.ofType('task');
    expect(other.taskId).not.toBe(taskId);
    await laptop.say({ type: 'status', taskId: other.taskId, text: 'half way' });
    const stream = await TaskStream.open(streaming);
    await untilStreaming(world(), 1);
    await end();
    expect((await waiting).status).toBe(401);
    await stream.rest();
    await untilStreaming(world(), 0);
  });
});
