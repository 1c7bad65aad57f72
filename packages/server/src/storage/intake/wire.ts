import { Fault, type FaultDetail, type FaultName, isFault } from '../../core/faults.ts';
import type { DoneOf, Kind } from '../../core/intake.ts';
import type { CoreSettings } from '../../core/room.ts';
import type { News, Topic } from '../../core/store.ts';
import type { MasterKeys } from '../sealing/master-key.ts';
import type { Packed } from './pack.ts';

/** The messages between the serving thread and the second one. Plain values only. */
export type ToThread =
  | { kind: 'batch'; number: number; parts: BatchPart[] }
  | { kind: 'ask' }
  | { kind: 'back' }
  | { kind: 'stop' };

/** The units of one kind, in their order. */
export type BatchPart = { of: Kind; packed: Packed };

export type Answered = { number: number; outcomes: Outcome[] };

export type FromThread =
  | { kind: 'ready' }
  | { kind: 'done'; batches: Answered[]; news: [Topic, string[]][] }
  | { kind: 'granted' };

/** The result of a unit that was not refused. */
export type Done = DoneOf<Kind>;

/** Errors lose their class between threads, so a fault travels as its parts. */
export type Outcome =
  | { done: Done }
  | { fault: FaultName; message: string; detail: FaultDetail; thrown: boolean }
  | { problem: string };

/** Where the database is: a file, as the server opened it, or a PostgreSQL server. */
export type Whereabouts = { file: string; opened: string | null } | { url: string };

export type ThreadData = { at: Whereabouts; masters: MasterKeys; settings: CoreSettings };

export function toOutcome(value: Done | Fault): Outcome {
  return isFault(value) ? faultParts(value, false) : { done: value };
}

export function toProblem(reason: unknown): Outcome {
  if (isFault(reason)) return faultParts(reason, true);
  return { problem: reason instanceof Error ? (reason.stack ?? reason.message) : String(reason) };
}

function faultParts({ fault, message, detail }: Fault, thrown: boolean): Outcome {
  return { fault, message, detail, thrown };
}

/** Returns what the rule returned and throws what it threw. */
export function fromOutcome(outcome: Outcome): Done | Fault {
  if ('done' in outcome) return outcome.done;
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
