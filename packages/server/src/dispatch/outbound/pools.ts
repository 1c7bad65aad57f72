import type { Socket } from 'node:net';
import { Pool } from 'undici';
import { checkedConnector } from './connect.ts';
import type { CheckedAddress } from './resolve.ts';

/** Idle connections live this long, whatever the receiver proposes. */
const KEEP_ALIVE_MS = 4000;
const MAX_REPLY_HEADER_BYTES = 16 * 1024;

export type PoolRule = {
  maxPools: number;
  connectionsPerPool: number;
  connectTimeoutMs: number;
  ca: string | undefined;
};

type Held = { pool: Pool; connecting: Set<Socket>; active: number };

/**
 * One pool per origin and answer of DNS. A changed answer is another key, so a kept-alive connection is only ever used
 * for a request whose own fresh, checked answer is the one the connection was made for. No pool shares a limit.
 */
export class Pools {
  readonly #rule: PoolRule;
  /** Least recently used first. */
  readonly #held = new Map<string, Held>();

  constructor(rule: PoolRule) {
    this.#rule = rule;
  }

  get size(): number {
    return this.#held.size;
  }

  take(origin: string, addresses: readonly CheckedAddress[]): { pool: Pool; release: () => void } {
    const key = [origin, ...addresses.map(({ address }) => address).sort()].join(' ');
    const held = this.#held.get(key) ?? this.#open(origin, addresses);
    this.#held.delete(key);
    this.#held.set(key, held);
    held.active++;
    this.#evict();
    return {
      pool: held.pool,
      release: () => {
        held.active--;
      },
    };
  }

  async stop(): Promise<void> {
    const all = [...this.#held.values()];
    this.#held.clear();
    await Promise.all(all.map(close));
  }

  #open(origin: string, addresses: readonly CheckedAddress[]): Held {
    const connecting = new Set<Socket>();
    const { connectTimeoutMs: timeoutMs, ca, connectionsPerPool: connections } = this.#rule;
    const pool = new Pool(origin, {
      connections,
      connect: checkedConnector({ addresses, timeoutMs, ca, connecting }),
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: MAX_REPLY_HEADER_BYTES,
      // The attempt's own deadline covers both.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    return { pool, connecting, active: 0 };
  }

  // Pools in use stay, even above the cap: their number is bounded by what the caller has in flight.
  #evict(): void {
    for (const [key, held] of this.#held) {
      if (this.#held.size <= this.#rule.maxPools) return;
      if (held.active > 0) continue;
      this.#held.delete(key);
      void close(held);
    }
  }
}

async function close({ pool, connecting }: Held): Promise<void> {
  for (const socket of connecting) socket.destroy();
  await pool.destroy();
}
