import { type Accepted, type PreparedDelivery, takeIn } from './deliveries/accept.ts';
import { type Kept, keepEvent, type ReadEvent } from './events/ingest.ts';
import type { Fault } from './faults.ts';
import type { Room } from './room.ts';
import { type TakenJobs, takeJobs, type WantedJobs } from './sending/lease-jobs.ts';
import { type AttemptPage, recordAttempts } from './sending/settle-jobs.ts';
import { type Acknowledged, acknowledge } from './tasks/frames.ts';
import { type PreparedMessage, type Taken, takeMessage } from './tasks/open.ts';
import { type PreparedReport, type Reported, takeReport } from './tasks/report.ts';

/** What may be written on a second thread: plain values that can be handed over, and the outcome of each. */
export type Kinds = {
  delivery: { unit: PreparedDelivery; done: Accepted };
  event: { unit: ReadEvent; done: Kept };
  message: { unit: PreparedMessage; done: Taken };
  report: { unit: PreparedReport; done: Reported };
  acknowledgement: { unit: Acknowledged; done: null };
  claim: { unit: WantedJobs; done: TakenJobs };
  attempts: { unit: AttemptPage; done: boolean[] };
};

export type Kind = keyof Kinds;
export type UnitOf<K extends Kind> = Kinds[K]['unit'];
export type DoneOf<K extends Kind> = Kinds[K]['done'];

/** Takes units in on another thread. */
export interface Intake {
  take<K extends Kind>(kind: K, unit: UnitOf<K>): Promise<DoneOf<K> | Fault>;
}

/** The rule for each kind; every thread runs the same one. */
export const RULES: { [K in Kind]: (room: Room, unit: UnitOf<K>) => Promise<DoneOf<K> | Fault> } = {
  delivery: takeIn,
  event: keepEvent,
  message: takeMessage,
  report: takeReport,
  acknowledgement: acknowledge,
  claim: takeJobs,
  attempts: recordAttempts,
};
