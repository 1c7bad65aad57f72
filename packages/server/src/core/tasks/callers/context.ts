import type { Room } from '../../room.ts';
import type { Tx } from '../../store.ts';
import { isMadeUp } from './callers.ts';
import type { Place } from './place.ts';

/** A context as a caller names it. */
export type ContextName = {
  place: Place;
  contextId: string;
  /** Of a caller without a credential: all of them share one name. */
  network: string | null;
};

const OURS = /^ctx-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function freshContext({ ids, clock }: Pick<Room, 'ids' | 'clock'>): string {
  return `ctx-${ids.timed(clock.now())}`;
}

/**
 * The context that a name stands for. An agent remembers by contexts and knows no callers, so each has one caller (A22):
 * whoever uses a name first has it as it is. For others, and when we did not give it to them, it stands for a context
 * of their own.
 */
export async function contextOf(room: Room, tx: Tx, name: ContextName): Promise<string> {
  const { place, contextId, network } = name;
  const { agent, caller } = place;
  const own = standsFor(room, name);
  const isOurs = OURS.test(contextId);
  if (network !== null && !isOurs && !isMadeUp(contextId)) return own;
  if ((await tx.tasks.newestIn(agent, caller, contextId)) !== null) return contextId;
  // Foreign or never given: the answer must not tell which.
  if (isOurs) return own;
  // The other caller's tasks may be gone meanwhile.
  if ((await tx.tasks.newestIn(agent, caller, own)) !== null) return own;
  return (await tx.tasks.hasContext(agent, contextId)) ? own : contextId;
}

/** Made of who says it and what is said: it is the same each time, and nothing has to be noted. */
export function standsFor(
  { vault }: Pick<Room, 'vault'>,
  { place, contextId, network }: ContextName,
): string {
  const { space, agent, caller } = place;
  const names = ['context', space, agent, caller, network ?? '', contextId];
  const hex = vault.sha256(vault.mac(names.join('\n')));
  const uuid = /^(.{8})(.{4}).(.{3}).(.{3})(.{12})/.exec(hex)?.slice(1) ?? [];
  const [a, b, c, d, e] = uuid;
  return `ctx-${a}-${b}-8${c}-8${d}-${e}`;
}
