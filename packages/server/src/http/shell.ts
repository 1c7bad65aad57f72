import type { SpaceId } from '../core/ids.ts';
import type { Verdict } from '../core/ledger/audit.ts';
import type { Doorkeeper } from '../core/people/login/login.ts';
import type { Rate } from '../core/rate.ts';
import type { Addresses } from './addresses.ts';
import type { Presence } from './entry/presence.ts';
import type { Binding } from './entry/transport.ts';
import type { FastLanes } from './fast-lane.ts';
import type { Upgrades } from './sockets/upgrades.ts';
import type { LargeAnswers } from './waiting/large-answers.ts';
import type { Parking, Wakeups } from './waiting/park.ts';
import type { Streams } from './waiting/sse.ts';

/** What a door may send, and what it learns about the outcome. */
interface WayOut {
  send(request: {
    url: string;
    method: 'POST' | 'GET';
    headers: Readonly<Record<string, string>>;
    body: string | Uint8Array | null;
    /** For test keys, and only for hosts that are written as loopback (W21). */
    allowLoopback: boolean;
    maxReplyBytes?: number;
  }): Promise<
    { ok: true; status: number; bodyStart: Buffer; truncated: boolean } | { ok: false; message: string }
  >;
}

/** What every door gets: the core, the places where requests wait, and our own address. */
export type Shell = {
  room: Doorkeeper;
  auditor: { verify(space: SpaceId): Promise<Verdict>; last(space: SpaceId): Verdict | null };
  wakeups: Wakeups;
  parking: Parking;
  streams: Streams;
  largeAnswers: LargeAnswers;
  addresses: Addresses;
  lanes: FastLanes;
  upgrades: Upgrades;
  binding: Binding;
  /** The public base URL; known once the server listens. */
  baseUrl(): string;
  presence: Presence;
  /** When producers were last seen. */
  producersSeen: Presence;
  /** When caller tokens were last used. */
  callersSeen: Presence;
  /** The one way out. */
  outbound: WayOut;
  /** Whether e-mail can be sent. */
  mail: boolean;
  about: { version: string; retentionDays: number; producerRate: Rate | null };
};
