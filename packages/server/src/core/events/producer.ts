import type { Tier } from '../agents/key.ts';
import type { SpaceId } from '../ids.ts';
import type { Micros } from '../time.ts';

/** An outside system that signs events. */
export type Producer = {
  space: SpaceId;
  id: string;
  name: string;
  tier: Tier;
  /** The development producer of AKEP_WEBHOOK_SECRET signs for whatever producer_id the example at hand names. */
  anyId: boolean;
  createdAt: Micros;
  lastSeenAt: Micros | null;
};

export type Algorithm = 'v1' | 'v1a';

/** A signing key. Its secret is sealed at rest; for Ed25519 it is the public key. */
export type ProducerKey = {
  space: SpaceId;
  id: string;
  producer: string;
  algorithm: Algorithm;
  createdAt: Micros;
  expiresAt: Micros | null;
  revokedAt: Micros | null;
};

/** An event that was refused, kept for a week so that its sender's developer can be helped. */
export type Refusal = {
  space: SpaceId;
  producer: string;
  at: Micros;
  eventId: string | null;
  status: number;
  reason: string;
};

const PRODUCER_ID = /^[A-Za-z0-9_:-]{3,128}$/;

export function isProducerId(text: string): boolean {
  return PRODUCER_ID.test(text);
}

/** `whpk_` and the base64 of 32 bytes, as Standard Webhooks writes an Ed25519 public key. */
export function isPublicKey(text: string): boolean {
  return /^whpk_[A-Za-z0-9+/]{43}=$/.test(text);
}

const OURS = 'prod_lanternroom_';
const AGENTS = 'prod_agent_';

/** Our own producer id, for events that tell a person's decision (K28). */
export function ownProducer(handle: string): string {
  return OURS + handle;
}

/**
 * The name under which an agent itself sends events (K25). A dot, which a producer id may not have, becomes a colon,
 * which no agent id has; a name that is too long ends in its hash. So two agents never share a name.
 */
export function agentProducerId(agent: string, sha256: (text: string) => string): string {
  const id = AGENTS + agent.replaceAll('.', ':');
  return id.length <= 128 ? id : `${id.slice(0, 95)}:${sha256(agent).slice(0, 32)}`;
}

/** Nobody else may send under our name or an agent's: that would be a way to forge an approval. */
export function isReserved(id: string): boolean {
  return id.startsWith(OURS) || id.startsWith(AGENTS);
}

/** In a test's events its id may be missing (K5), and in an agent's: the agent's key has named it. */
export function mayOmitId({ id, tier }: Producer): boolean {
  return tier === 'test' || isReserved(id);
}

/** `prod_` and the name in the letters that an id may have. */
export function producerIdFor(name: string): string {
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '');
  return `prod_${plain || 'unnamed'}`.slice(0, 128);
}
