import type { JsonObject } from '../../../core/canonical.ts';
import type { Room } from '../../../core/room.ts';
import type { PushConfig } from '../../../core/tasks/push/push.ts';
import type { LogEntry, TaskRecord, TaskView } from '../../../core/tasks/task.ts';
import { withAllContent } from '../content/content.ts';
import { DIALECTS } from '../dialects/versions.ts';
import { toUpdate } from '../tasks/follow.ts';
import { localTarget } from './neighbours.ts';

type Told = { push: PushConfig; task: TaskRecord; handle: string; entry: LogEntry; view: TaskView };

/** 1.0 is sent what a stream would carry, the older ones the task as it was at this entry (A4, A18). */
export function pushBody(room: Room, baseUrl: () => string) {
  return async ({ push, task, handle, entry, view }: Told): Promise<{ type: string; body: JsonObject }> => {
    const dialect = DIALECTS[push.dialect];
    const outlet = { room, space: task.space, base: `${baseUrl()}/@${handle}/${task.agent}/` };
    if (dialect.name === '1.0') {
      const update = await toUpdate(outlet, task, entry);
      if (update !== null)
        return { type: 'application/a2a+json', body: dialect.fromUpdate(update) as JsonObject };
    }
    const body = dialect.fromTask(await withAllContent(outlet, view)) as JsonObject;
    return { type: 'application/json', body };
  };
}

/** The agent of ours that an address names, as the store knows it (A19). */
export async function findNeighbour(
  room: Room,
  baseUrl: string,
  url: string,
): Promise<{ space: string; agent: string } | null> {
  const named = localTarget(baseUrl, url);
  if (named === null) return null;
  const space = await room.store.directory.spaceByHandle(named.handle);
  return { space: space?.id ?? 'no such space', agent: named.agent };
}
