export { type Clock, systemClock } from '../clock.ts';
export { FAULTS, type Fault, faultOf, LanternError, type WireTrouble } from '../faults.ts';
export { type Caller, type CallerOptions, createCaller, type SendOptions } from './caller.ts';
export { isRunning, type ProcessMark } from './claim.ts';
export {
  type Connection,
  type ConnectOptions,
  connect,
  type HandlerReply,
  type TaskHandler,
} from './connect.ts';
export { fileJournal, memoryJournal, type TaskJournal } from './journal.ts';
export type { LinkTrouble } from './link.ts';
export type { OpenSocket, Socket, SocketEars, SocketTarget } from './socket.ts';
export type {
  AgentTask,
  ArtifactDraft,
  ArtifactOptions,
  Content,
  ContentSource,
  Said,
  SayOptions,
  UploadFacts,
} from './task.ts';
export {
  type Artifact,
  isEnded,
  type Message,
  type Part,
  type StreamItem,
  TASK_STATES,
  type Task,
  type TaskDecision,
  type TaskState,
  type TaskStatus,
  textIn,
} from './wire.ts';
