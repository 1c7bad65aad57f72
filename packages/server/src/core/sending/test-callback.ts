import { type Agent, activeSecrets } from '../agents/agent.ts';
import { judgeTarget } from '../agents/allowlist.ts';
import { isActive, type Tier } from '../agents/key.ts';
import { Fault } from '../faults.ts';
import type { Person } from '../people/person.ts';
import { type Room, record } from '../room.ts';
import type { Tx } from '../store.ts';
import { type Micros, toIso } from '../time.ts';

export type TestRequest = { url: string; body: string; secrets: string[]; id: string; tier: Tier };

/** What the Test button sends: signed like the real thing, and plainly not an answer to anything. */
export async function prepareTest(
  room: Room,
  tx: Tx,
  agent: Agent,
  url: string,
): Promise<TestRequest | Fault> {
  const now = room.clock.now();
  const tier = await tierFor(tx, agent, now);
  const verdict = judgeTarget(url, agent.callbacks, tier);
  if (!verdict.allowed) {
    return new Fault('target_not_allowed', verdict.message, {
      field: 'url',
      extra: { reason: verdict.reason },
    });
  }
  const id = room.ids.uuid();
  const body = JSON.stringify({
    test: true,
    agent_id: agent.id,
    message: 'A test from the desk. Verify the signature, then answer with any 2xx.',
    sent_at: toIso(now),
  });
  return { url: verdict.url, body, id, tier, secrets: activeSecrets(await tx.agents.secrets(agent.id), now) };
}

/** Loopback is for agents that have a test key (W21). */
async function tierFor(tx: Tx, agent: Agent, now: Micros): Promise<Tier> {
  const keys = await tx.keys.list(agent.id);
  return keys.some((key) => key.tier === 'test' && isActive(key, now)) ? 'test' : 'live';
}

export function noteTest(
  room: Room,
  person: Person,
  tested: { agent: string; origin: string; status: number | null },
): Promise<number> {
  return room.store.write(person.space, ['ledger'], (tx) =>
    record(room, tx, room.clock.now(), {
      actor: `person:${person.id}`,
      action: 'callback.tested',
      subject: tested.agent,
      data: { origin: tested.origin, status: tested.status },
    }),
  );
}
