import { judgePushTarget } from '../../../core/agents/allowlist.ts';
import { Fault } from '../../../core/faults.ts';
import type { PushWish } from '../../../core/tasks/push/push.ts';
import { pushListsOf } from '../../../core/tasks/push/push-targets.ts';
import type { TaskDialect } from '../../../core/tasks/task.ts';
import { isLoopbackHost } from '../../../http/entry/transport.ts';
import type { Shell } from '../../../http/shell.ts';
import type { PushRequest } from '../dialects/dialect.ts';
import type { Entered } from '../door.ts';
import { localTarget } from './neighbours.ts';

/**
 * A push target belongs to the caller: only a space that keeps a list restricts it. Every rule is checked now, and
 * again when sending (A18).
 */
export async function toPushConfig(
  shell: Shell,
  { place }: Entered,
  { urlField, ...wanted }: PushRequest,
  dialect: TaskDialect,
): Promise<PushWish> {
  const wish = { ...wanted, dialect };
  if (localTarget(shell.baseUrl(), wanted.url) !== null) return wish;
  const lists = await shell.room.store.read(place.space, (tx) => pushListsOf(tx, place.agent));
  const mayBeLoopback = isLoopbackHost(shell.binding.host);
  const verdict = judgePushTarget(wanted.url, { ...lists, mayBeLoopback });
  if (!verdict.allowed) throw new Fault('target_not_allowed', verdict.message, { field: urlField });
  return { ...wish, url: verdict.url };
}
