import type { AgentId, Ids, SpaceId } from '../ids.ts';
import type { Micros } from '../time.ts';

export type Agent = {
  space: SpaceId;
  id: AgentId;
  createdAt: Micros;
  /** When a person first decided or read one of its deliveries; before that it is a "new agent" on the desk. */
  acceptedAt: Micros | null;
  /** The callback allowlist: origins with a path prefix (W21). */
  callbacks: readonly string[];
  lastSeenAt: Micros | null;
  /** When a laptop of it last came or went; null when none ever did. */
  connectedAt: Micros | null;
  /** Exists only to show what the desk is for; everything it delivers is marked as a sample. */
  sample: boolean;
};

export type CallbackSecret = { secret: string; createdAt: Micros; expiresAt: Micros | null };

const AGENT_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const HANDLE = /^[a-z0-9](?:[a-z0-9-]{0,37}[a-z0-9])?$/;

export function isAgentId(text: string): boolean {
  return AGENT_ID.test(text);
}

export function isHandle(text: string): boolean {
  return HANDLE.test(text);
}

/** `whsec_` and 32 random bytes; Standard Webhooks wants 24 to 64. */
export function makeCallbackSecret(ids: Ids): string {
  return `whsec_${ids.base64(32)}`;
}

/** Those that sign now. During rotation both do (W20). */
export function activeSecrets(secrets: readonly CallbackSecret[], now: Micros): string[] {
  return secrets.filter((s) => s.expiresAt === null || s.expiresAt > now).map((s) => s.secret);
}

/** The new one signs for good, the old ones until the overlap ends. */
export function rotateSecrets(
  secrets: readonly CallbackSecret[],
  fresh: CallbackSecret,
  overlapEndsAt: Micros,
): CallbackSecret[] {
  const kept = secrets
    .filter((s) => s.expiresAt === null || s.expiresAt > fresh.createdAt)
    .map((s) => ({ ...s, expiresAt: Math.min(s.expiresAt ?? overlapEndsAt, overlapEndsAt) }));
  return [fresh, ...kept];
}
