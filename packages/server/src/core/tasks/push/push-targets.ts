import { type PushRule, refuseEntries } from '../../agents/allowlist.ts';
import { Fault } from '../../faults.ts';
import type { AgentId, SpaceId } from '../../ids.ts';
import { type Room, record } from '../../room.ts';
import type { Tx } from '../../store.ts';

/** The lists that decide where news of an agent's tasks may be sent (A18). */
export async function pushListsOf(tx: Tx, agent: AgentId): Promise<Omit<PushRule, 'mayBeLoopback'>> {
  return {
    callbacks: (await tx.agents.get(agent))?.callbacks ?? [],
    pushTargets: (await tx.spaces.get())?.pushTargets ?? null,
  };
}

/** Restricts the pushes of a whole space to a list; null lifts the restriction. Pushes under way are judged by it too. */
export async function setPushTargets(
  room: Room,
  { space, targets }: { space: SpaceId; targets: readonly string[] | null },
  actor: string,
): Promise<readonly string[] | null | Fault> {
  const refused = refuseEntries('push_targets', targets ?? []);
  if (refused !== null) return refused;
  return room.store.write(space, ['ledger'], async (tx) => {
    if ((await tx.spaces.get()) === null) return new Fault('not_found', 'There is no such space.');
    await tx.spaces.setPushTargets(targets);
    const data = { push_targets: targets };
    const entry = { actor, action: 'push_targets.changed', subject: space, data };
    await record(room, tx, room.clock.now(), entry);
    tx.announce(`desk:${space}`, 'settings');
    return targets;
  });
}
