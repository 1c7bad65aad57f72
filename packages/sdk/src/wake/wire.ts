/** The bodies of WAKE v1.0 as they travel, with the optional additions of Lanternroom (W26, W27). */

/** Every type of delivery. */
export const DELIVERY_TYPES = ['update', 'question', 'output', 'alert'] as const;
/** `update`: nothing is asked. `question`: a decision is needed. `output`: work to look at. `alert`: trouble. */
export type DeliveryType = (typeof DELIVERY_TYPES)[number];

/** Every status of a delivery. */
export const RESPONSE_STATUSES = ['pending', 'approved', 'rejected', 'redirected'] as const;
/** What a person decided, or `pending`. */
export type ResponseStatus = (typeof RESPONSE_STATUSES)[number];

/** An object as JSON has it. */
export type JsonObject = { [key: string]: unknown };

/** Full content of a delivery, and content as a person edited it: an object, a text, or nothing. */
export type Content = JsonObject | string | null;

/** One credential in `details` that is there on purpose (W13). */
export interface AllowedSecret {
  path: string;
  reason: string;
}

/** `POST /wake/v1/deliver` */
export interface DeliverBody {
  agent_id: string;
  provider: string;
  type: DeliveryType;
  headline: string;
  summary: string;
  details?: Content;
  callback_webhook?: string | null;
  timeout_seconds?: number | null;
  allow_secrets?: AllowedSecret[] | null;
  task_id?: string | null;
  thread_id?: string | null;
  interrupt_id?: string | null;
  revises?: string | null;
  dedupe_key?: string | null;
}

/** Its reply: 201, or 200 with `deduplicated` when the same `dedupe_key` is still pending. */
export interface DeliverReply {
  delivery_id: string;
  status: 'received';
  created_at: string;
  deduplicated?: true;
}

/** `GET /wake/v1/response/{delivery_id}`, one item of a sweep, and the body of a callback. */
export interface ResponseBody {
  delivery_id: string;
  status: ResponseStatus;
  feedback: string | null;
  edited_content: Content;
  responded_at: string | null;
  timed_out_at?: string;
  withdrawn_at?: string;
}

/** `GET /wake/v1/responses` */
export interface SweepBody {
  deliveries: ResponseBody[];
  total: number;
  has_more: boolean;
  next_since: string | null;
}

/** `POST /wake/v1/withdraw/{delivery_id}` */
export interface WithdrawBody {
  reason: string;
}

/** Every error, at every address. */
export interface ErrorBody {
  error: {
    code: string;
    message: string;
    docs: string;
    field?: string;
    supported?: string[];
  };
}
