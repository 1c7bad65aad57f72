import { LanternError } from '../faults.ts';
import { isRecord, textOf } from '../json.ts';
import type { AllowedSecret, Content, DeliverBody, DeliverReply, DeliveryType } from './wire.ts';

/** What an agent wants to put before a person. The server says what is wrong with it, field by field. */
export interface Draft {
  readonly type: DeliveryType;
  /** At most 120 characters; lead with what has been accomplished. */
  readonly headline: string;
  /** One plain sentence, at most 280 characters. */
  readonly summary: string;
  /** The full content. Never credentials. */
  readonly details?: Content | undefined;
  /** After this many seconds (60…604800) the agent goes on by its own judgement. */
  readonly timeoutSeconds?: number | undefined;
  readonly callbackWebhook?: string | undefined;
  readonly allowSecrets?: AllowedSecret[] | undefined;
  readonly taskId?: string | undefined;
  readonly threadId?: string | undefined;
  readonly interruptId?: string | undefined;
  /** The earlier delivery of this agent that this one replaces. */
  readonly revises?: string | undefined;
  /** At most one pending delivery per agent and key. */
  readonly dedupeKey?: string | undefined;
}

/** What came of it. Keep the id: it is the only way to the answer. */
export interface Delivered {
  readonly deliveryId: string;
  readonly createdAt: string;
  readonly deduplicated: boolean;
  readonly idempotencyKey: string;
}

export function fromDraft(draft: Draft, sender: { agentId: string; provider: string }): DeliverBody {
  return {
    agent_id: sender.agentId,
    provider: sender.provider,
    type: draft.type,
    headline: draft.headline,
    summary: draft.summary,
    ...(draft.details === undefined ? {} : { details: draft.details }),
    ...(draft.timeoutSeconds === undefined ? {} : { timeout_seconds: draft.timeoutSeconds }),
    ...(draft.callbackWebhook === undefined ? {} : { callback_webhook: draft.callbackWebhook }),
    ...(draft.allowSecrets === undefined ? {} : { allow_secrets: draft.allowSecrets }),
    ...(draft.taskId === undefined ? {} : { task_id: draft.taskId }),
    ...(draft.threadId === undefined ? {} : { thread_id: draft.threadId }),
    ...(draft.interruptId === undefined ? {} : { interrupt_id: draft.interruptId }),
    ...(draft.revises === undefined ? {} : { revises: draft.revises }),
    ...(draft.dedupeKey === undefined ? {} : { dedupe_key: draft.dedupeKey }),
  };
}

export function demandDeliverReply(value: unknown): DeliverReply {
  const deliveryId = isRecord(value) ? textOf(value.delivery_id) : null;
  if (!isRecord(value) || deliveryId === null || deliveryId === '') {
    const message = 'The server took the delivery without giving it an id: check that this is a WAKE server.';
    throw new LanternError('bad_reply', message);
  }
  return {
    delivery_id: deliveryId,
    status: 'received',
    created_at: textOf(value.created_at) ?? '',
    ...(value.deduplicated === true ? { deduplicated: true } : {}),
  };
}
