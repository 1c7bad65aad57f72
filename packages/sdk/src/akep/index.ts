export { type Clock, systemClock } from '../clock.ts';
export { FAULTS, type Fault, faultOf, LanternError, type WireTrouble } from '../faults.ts';
export { fileLog } from '../log/file-log.ts';
export { memoryLog, type WakeLog } from '../log/log.ts';
export { type CursorStore, fileCursor, type Place, type Track } from './cursor.ts';
export type { AckCall, EntryCall } from './entries.ts';
export type { EventDraft } from './envelope.ts';
export type { FollowOptions, InboxItem } from './follow.ts';
export { createInbox, type InboxOptions } from './inbox.ts';
export type { Inbox } from './inbox-verbs.ts';
export type { Gap, InboxCall } from './parts.ts';
export { createProducer, type Producer, type ProducerOptions, type Sent } from './producer.ts';
export type { EventPage, PageCall } from './replay.ts';
export type { EventHandler, HandlerSays, OnErrorSays, RunOptions, Verdict } from './run.ts';
export { type EventHeaders, type EventSigning, signEvent } from './signature.ts';
export type { Streamed, StreamOptions } from './stream.ts';
export type { SubscriptionDraft } from './subscriptions.ts';
export { type EventRefusal, type EventRequest, type VerifiedEvent, verifyEvent } from './verify.ts';
export type { Awaited, WaitForOptions } from './waits.ts';
export {
  ACK_STATUSES,
  type Ack,
  type AckStatus,
  type AkepEvent,
  type EventSource,
  type EventView,
  KNOWLEDGE_KINDS,
  type Knowledge,
  type KnowledgeKind,
  type Plain,
  type Policy,
  RESUME_POLICIES,
  type Resume,
  type ResumePolicy,
  type Routing,
  SOURCE_TYPES,
  type SourceType,
  type Subscription,
  type SubscriptionBody,
  type TaskView,
  type Wait,
  type WaitBody,
} from './wire.ts';
