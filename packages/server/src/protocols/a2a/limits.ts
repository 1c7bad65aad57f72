import type { ServerResponse } from 'node:http';
import { Fault } from '../../core/faults.ts';
import { ShortMemory } from '../../core/maps.ts';
import { type Bucket, fullBucket, type Rate, take } from '../../core/rate.ts';
import { isFromOutside, NOBODY } from '../../core/tasks/callers/callers.ts';
import type { Micros } from '../../core/time.ts';
import type { Entered } from './door.ts';

/** `underWay`: waits and streams last long, so the rate alone would let them pile up. */
type Allowance = Rate & { underWay: number; whose: string };

/** By agent and network address. */
const STRANGER: Allowance = { perHour: 3_600, burst: 60, underWay: 60, whose: 'Without a credential' };
/** By the token, or by the agent or person of another space, wherever they call from. */
const PARTNER: Allowance = { perHour: 36_000, burst: 600, underWay: 600, whose: 'With this credential' };

const MOST_BUCKETS = 50_000;

/**
 * Callers from outside the space may not fill it, or an agent's day (A21). Kept in memory: the buckets are full again a
 * minute after a restart.
 */
export class OutsideLimits {
  readonly #buckets = new ShortMemory<string, Bucket>(MOST_BUCKETS);
  readonly #underWay = new Map<string, number>();
  /** A request may come to us twice: in front of the framework, and behind it. */
  readonly #counted = new WeakSet<ServerResponse>();

  count(entered: Entered, response: ServerResponse, now: Micros): void {
    const allowance = allowanceFor(entered);
    if (allowance === null || this.#counted.has(response)) return;
    const { space, agent, caller } = entered.place;
    const who = `${space}/${agent}/${entered.network ?? caller}`;
    this.#assertFewUnderWay(who, allowance);
    this.#take(who, allowance, now);
    this.#begin(who, response);
    this.#counted.add(response);
  }

  #assertFewUnderWay(who: string, { underWay, whose }: Allowance): void {
    if ((this.#underWay.get(who) ?? 0) < underWay) return;
    const message = `${whose} ${underWay} calls can be under way. End one, then try again.`;
    throw new Fault('rate_limited', message, { retryAfter: 1 });
  }

  #take(who: string, rate: Allowance, now: Micros): void {
    const taken = take(this.#buckets.get(who) ?? fullBucket(rate, now), rate, now);
    if (taken.kind === 'empty') {
      const message = `${rate.whose} there are ${rate.perHour} calls an hour (burst ${rate.burst}). Slow down.`;
      throw new Fault('rate_limited', message, { retryAfter: taken.retryAfterSeconds });
    }
    this.#buckets.set(who, taken.bucket);
  }

  /** Until it was answered, or its caller has gone. */
  #begin(who: string, response: ServerResponse): void {
    // The caller may have left before this, and no further event would say so.
    if (response.destroyed) return;
    this.#underWay.set(who, (this.#underWay.get(who) ?? 0) + 1);
    response.once('close', () => {
      const left = (this.#underWay.get(who) ?? 1) - 1;
      if (left === 0) this.#underWay.delete(who);
      else this.#underWay.set(who, left);
    });
  }
}

/** Null for those of the agent's own space. */
function allowanceFor({ place: { caller } }: Entered): Allowance | null {
  if (caller === NOBODY) return STRANGER;
  return isFromOutside(caller) ? PARTNER : null;
}
