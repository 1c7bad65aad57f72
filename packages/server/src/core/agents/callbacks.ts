import { type Fault, isFault } from '../faults.ts';
import type { SpaceId } from '../ids.ts';
import { type Room, record } from '../room.ts';
import { DAY, type Micros, toIso } from '../time.ts';
import { type Agent, type CallbackSecret, makeCallbackSecret, rotateSecrets } from './agent.ts';
import { refuseEntries } from './allowlist.ts';
import { onAgent } from './on-agent.ts';

/** Longer than the whole retry schedule of a callback (W22), so that no retry is signed with a dead secret alone. */
const SECRET_OVERLAP: Micros = 4 * DAY;

export async function setCallbacks(
  room: Room,
  at: { space: SpaceId; agent: string; callbacks: readonly string[] },
  actor: string,
): Promise<Agent | Fault> {
  const refused = refuseEntries('callbacks', at.callbacks);
  if (isFault(refused)) return refused;
  return onAgent(room, at, async (tx, agent, now) => {
    await tx.agents.setCallbacks(agent.id, at.callbacks);
    const data = { callbacks: at.callbacks };
    await record(room, tx, now, { actor, action: 'callbacks.changed', subject: agent.id, data });
    tx.announce(`desk:${tx.space}`, 'agents');
    return { ...agent, callbacks: at.callbacks };
  });
}

/** A new callback secret; the old one signs beside it until the overlap ends (W20). */
export function rotateCallbackSecret(
  room: Room,
  at: { space: SpaceId; agent: string },
  actor: string,
): Promise<{ callbackSecret: string; oldExpiresAt: Micros } | Fault> {
  const callbackSecret = makeCallbackSecret(room.ids);
  return onAgent(room, at, async (tx, agent, now) => {
    const oldExpiresAt = now + SECRET_OVERLAP;
    const fresh: CallbackSecret = { secret: callbackSecret, createdAt: now, expiresAt: null };
    await tx.agents.setSecrets(
      agent.id,
      rotateSecrets(await tx.agents.secrets(agent.id), fresh, oldExpiresAt),
    );
    const data = { old_expires_at: toIso(oldExpiresAt) };
    await record(room, tx, now, { actor, action: 'callback_secret.rotated', subject: agent.id, data });
    return { callbackSecret, oldExpiresAt };
  });
}
