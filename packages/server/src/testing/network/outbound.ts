import { onTestFinished } from 'vitest';
import { type JudgeAddress, judgeAddress } from '../../dispatch/outbound/addresses.ts';
import {
  Outbound,
  type OutboundClock,
  type OutboundOptions,
  type OutboundRequest,
} from '../../dispatch/outbound/outbound.ts';
import { testCa } from './receivers.ts';

/** On Linux all of 127.0.0.0/8 is there: this one stands for a public address, 127.0.0.1 for what must stay untouched. */
export const PUBLIC = '127.0.0.2';

export function publicAre(...addresses: string[]): JudgeAddress {
  return (ip, rule) => judgeAddress(ip, { allowLoopback: rule.allowLoopback || addresses.includes(ip) });
}

/** A clock that stands still until the test lets the deadline pass. */
export function manualClock(): OutboundClock & { passDeadline: () => void; waiting: () => number } {
  const timers = new Set<() => void>();
  return {
    nowMs: () => 0,
    after(_ms, fire) {
      timers.add(fire);
      return () => void timers.delete(fire);
    },
    passDeadline() {
      for (const fire of [...timers]) fire();
    },
    waiting: () => timers.size,
  };
}

export function makeOutbound(options: OutboundOptions = {}): Outbound {
  const outbound = new Outbound(options);
  onTestFinished(() => outbound.stop());
  return outbound;
}

export function toLoopback(port: number, more: Partial<OutboundRequest> = {}): OutboundRequest {
  return post(`http://127.0.0.1:${port}/hook`, { allowLoopback: true, ...more });
}

export function post(url: string, more: Partial<OutboundRequest> = {}): OutboundRequest {
  return { url, method: 'POST', headers: {}, body: '{"a":1}', allowLoopback: false, ...more };
}

/**
 * The real way out, with its checks, to a receiver that stands for every public host: names lead to its address, and
 * the usual port to the one it could get.
 */
export class PublicStage extends Outbound {
  readonly #port: number;

  constructor(receiver: { port: number }) {
    super({ ca: testCa, judge: publicAre(PUBLIC), lookup: async () => [PUBLIC] });
    this.#port = receiver.port;
  }

  override send(request: OutboundRequest): ReturnType<Outbound['send']> {
    const url = URL.canParse(request.url) ? new URL(request.url) : null;
    if (url === null || url.hostname !== 'receiver.test' || url.port !== '') return super.send(request);
    url.port = String(this.#port);
    return super.send({ ...request, url: url.href });
  }
}
