export { type Clock, systemClock } from '../clock.ts';
export { FAULTS, type Fault, faultOf, LanternError, type WireTrouble } from '../faults.ts';
export { certificateTrouble } from '../http/certificate.ts';
export { isExactNumber } from '../json.ts';
export { fileLog } from '../log/file-log.ts';
export { memoryLog, type WakeLog } from '../log/log.ts';
export type {
  Answer,
  Approved,
  Assumed,
  Checked,
  Pending,
  Redirected,
  Rejected,
  Unanswered,
} from './answer.ts';
export { createWake, type Wake, type WakeOptions } from './client.ts';
export type { DeliverOptions } from './deliver.ts';
export type { Delivered, Draft } from './draft.ts';
export type { CallOptions } from './parts.ts';
export type { Received } from './receive.ts';
export { type Signing, signWebhook, type WebhookHeaders } from './signature.ts';
export type { SweepOptions, Swept } from './sweep.ts';
export type { ProceedOnTimeout, WaitOptions } from './wait.ts';
export { type Verified, verifyWebhook, type WebhookRefusal, type WebhookRequest } from './webhook.ts';
export {
  type AllowedSecret,
  type Content,
  DELIVERY_TYPES,
  type DeliverBody,
  type DeliverReply,
  type DeliveryType,
  type ErrorBody,
  type JsonObject,
  RESPONSE_STATUSES,
  type ResponseBody,
  type ResponseStatus,
  type SweepBody,
  type WithdrawBody,
} from './wire.ts';
