import type { Accepted } from '../../core/deliveries/accept.ts';
import { Fault, type FaultDetail, type FaultName, isFault } from '../../core/faults.ts';
import type { CoreSettings } from '../../core/room.ts';
import type { News, Topic } from '../../core/store.ts';
import type { Packed } from './intake-pack.ts';

/** What passes between the server's thread and the one that takes deliveries in. Plain values only. */
export type ToThread =
  | { kind: 'batch'; number: number; packed: Packed }
  | { kind: 'ask' }
  | { kind: 'back' }
  | { kind: 'stop' };

export type FromThread =
  | { kind: 'ready' }
  | { kind: 'done'; number: number; outcomes: Outcome[]; news: [Topic, string[]][] }
  | { kind: 'granted' };

/** An error keeps its class on neither side of a thread, so a fault travels as its parts. */
export type Outcome =
  | { accepted: Accepted }
  | { fault: FaultName; message: string; detail: FaultDetail; thrown: boolean }
  | { problem: string };

export type ThreadData = { file: string; master: Uint8Array; settings: CoreSettings };

export function toOutcome(value: Accepted | Fault): Outcome {
  return isFault(value) ? faultParts(value, false) : { accepted: value };
}

export function toProblem(reason: unknown): Outcome {
  if (isFault(reason)) return faultParts(reason, true);
  return { problem: reason instanceof Error ? (reason.stack ?? reason.message) : String(reason) };
}

function faultParts({ fault, message, detail }: Fault, thrown: boolean): Outcome {
  return { fault, message, detail, thrown };
}

/** What was returned is returned, what was thrown is thrown. */
export function fromOutcome(outcome: Outcome): Accepted | Fault {
  if ('accepted' in outcome) return outcome.accepted;
  if ('problem' in outcome) throw new Error(outcome.problem);
  const fault = new Fault(outcome.fault, outcome.message, outcome.detail);
  if (outcome.thrown) throw fault;
  return fault;
}

export function fromNews(news: readonly [Topic, string[]][]): News {
  const all = new Map<Topic, Set<string>>();
  for (const [topic, about] of news) all.set(topic, new Set([...(all.get(topic) ?? []), ...about]));
  return all;
}
