import type { DeliveryType } from '@lanternroom/sdk/wake';
import { readDetails } from '../details.ts';
import { openWake } from '../settings.ts';
import { EXIT, type World } from '../world.ts';
import { report } from './wait.ts';

export interface DeliverFlags {
  readonly type: DeliveryType;
  readonly headline: string;
  readonly summary: string;
  readonly details?: string;
  readonly timeout?: number;
  readonly callback?: string;
  readonly idempotencyKey?: string;
  readonly taskId?: string;
  readonly threadId?: string;
  readonly interruptId?: string;
  readonly revises?: string;
  readonly dedupeKey?: string;
  readonly agentId?: string;
  readonly provider?: string;
  /** True, or for how many seconds. */
  readonly wait?: boolean | number;
  readonly json?: boolean;
}

export async function deliver(flags: DeliverFlags, world: World): Promise<number> {
  const details = await readDetails(flags.details, world);
  const { wake } = openWake(world, flags);
  const { timeout: timeoutSeconds, callback: callbackWebhook, ...rest } = flags;
  const delivered = await wake.deliver(
    { ...rest, details, timeoutSeconds, callbackWebhook },
    { idempotencyKey: flags.idempotencyKey },
  );
  if (flags.wait !== undefined && flags.wait !== false) {
    world.err(`Delivered ${delivered.deliveryId}, waiting for the answer.\n`);
    const timeoutMs = typeof flags.wait === 'number' ? flags.wait * 1_000 : undefined;
    const answer = await wake.waitFor(delivered.deliveryId, { timeoutMs });
    return report(answer, { isJson: flags.json === true, world });
  }
  const { deliveryId: delivery_id, createdAt: created_at, deduplicated } = delivered;
  const body = { delivery_id, status: 'received', created_at, deduplicated };
  world.out(flags.json ? `${JSON.stringify(body)}\n` : `${delivery_id}\n`);
  return EXIT.done;
}
