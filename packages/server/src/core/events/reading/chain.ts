import type { AgentId } from '../../ids.ts';
import type { Tx } from '../../store.ts';
import type { EventRecord } from '../event.ts';

const FURTHEST = 20;
const MOST_EFFECTS = 100;

export type Chain = { causes: EventRecord[]; effects: EventRecord[] };

/**
 * What led to an event, oldest first, and what followed from it, level by level (K22). Stops before it would go round
 * in a circle.
 */
export async function followCauses(tx: Tx, agent: AgentId, event: EventRecord): Promise<Chain> {
  return { causes: await causesOf(tx, agent, event), effects: await effectsOf(tx, event) };
}

async function causesOf(tx: Tx, agent: AgentId, event: EventRecord): Promise<EventRecord[]> {
  const causes: EventRecord[] = [];
  const seen = new Set([event.seq]);
  let id = event.causationId;
  while (id !== null && causes.length < FURTHEST) {
    const [found] = await tx.entries.byEventId(agent, id, 1);
    if (found === undefined || seen.has(found.event.seq)) break;
    seen.add(found.event.seq);
    causes.unshift(found.event);
    id = found.event.causationId;
  }
  return causes;
}

async function effectsOf(tx: Tx, event: EventRecord): Promise<EventRecord[]> {
  const effects = new Map([[event.seq, event]]);
  for (const cause of effects.values()) {
    const left = MOST_EFFECTS + 1 - effects.size;
    if (left <= 0) break;
    for (const effect of await tx.events.byCause(cause.eventId, left)) effects.set(effect.seq, effect);
  }
  effects.delete(event.seq);
  return [...effects.values()];
}
