import type { FastifyReply } from 'fastify';
import { type Identity, isActive, looksMistyped } from '../../core/agents/key.ts';
import { Fault } from '../../core/faults.ts';
import { ShortMemory } from '../../core/maps.ts';
import { type Bucket, fullBucket, type Rate, type RateView, type Taken, take } from '../../core/rate.ts';
import type { Room } from '../../core/room.ts';
import type { Micros } from '../../core/time.ts';
import type { Headed } from '../fast-lane.ts';

const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i;

/** The bearer credential of a request, or null. */
export function bearerOf(request: Headed): string | null {
  const header = request.headers.authorization;
  return header === undefined ? null : (BEARER.exec(header)?.[1] ?? null);
}

/** Who is calling: missing, malformed, unknown, revoked and expired keys are refused alike (W1). */
export async function identify(room: Room, request: Headed): Promise<Identity> {
  const key = bearerOf(request);
  if (key === null)
    throw new Fault('unauthorized', 'Send your key in the header Authorization: Bearer wk_….');
  const identity = await room.store.directory.identityByDigest(room.vault.sha256(key));
  if (identity !== null && isActive(identity.key, room.clock.now())) return identity;
  const hint = looksMistyped(key) ? ' It looks cut off or mistyped: its checksum does not match.' : '';
  throw new Fault(
    'unauthorized',
    `This key is not valid here.${hint} Ask for a new one; do not retry with it.`,
  );
}

export function rateHeaders(reply: FastifyReply, view: RateView): void {
  const headers = fromRateView(view);
  for (let i = 0; i + 1 < headers.length; i += 2) reply.raw.setHeader(headers[i] ?? '', headers[i + 1] ?? '');
}

/** Names and values in turn. */
export function fromRateView({ limit, remaining, resetSeconds }: RateView): string[] {
  return [
    'RateLimit-Limit',
    String(limit),
    'RateLimit-Remaining',
    String(remaining),
    'RateLimit-Reset',
    String(resetSeconds),
  ];
}

/** Refills a thousand a second, so it would be full again before a restart is over: it lives in memory. */
const READS: Rate = { perHour: 3_600_000, burst: 2_000 };
const MOST_KEYS = 50_000;

export class ReadLimits {
  readonly #buckets = new ShortMemory<string, Bucket>(MOST_KEYS);

  take(keyId: string, now: Micros): Taken {
    const taken = take(this.#buckets.get(keyId) ?? fullBucket(READS, now), READS, now);
    if (taken.kind === 'empty') return taken;
    this.#buckets.set(keyId, taken.bucket);
    return taken;
  }
}

export function tooManyReads(retryAfter: number): Fault {
  const message = `This key may read ${READS.perHour} times an hour (burst ${READS.burst}). Slow down.`;
  return new Fault('rate_limited', message, { retryAfter });
}
