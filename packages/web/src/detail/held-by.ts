import type { Detail, Session } from '../api/types.ts';

/**
 * The name of somebody else whose decision is held. While the person's own is on its way, the decision that is known
 * may still be an older one, or none.
 */
export function heldByOther({ state, decision }: Detail, session: Session | undefined): string | null {
  if (state !== 'held' || decision?.state !== 'held' || session === undefined) return null;
  const { person_id, name } = decision.decided_by;
  return person_id === session.person.person_id ? null : (name ?? 'somebody else');
}
