import { Fault, isFault } from '../../faults.ts';
import type { Room } from '../../room.ts';
import type { Micros } from '../../time.ts';
import { NOBODY } from '../callers/callers.ts';
import { contextOf } from '../callers/context.ts';
import type { Place } from '../callers/place.ts';
import { PAGE_BYTES } from '../log/log.ts';
import type { TaskRecord, TaskState, TaskView } from '../task.ts';
import { viewTask, type Wanted } from './read.ts';

export type Listing = Wanted & {
  context?: string | undefined;
  state?: TaskState | undefined;
  changedAfter?: Micros | undefined;
  pageToken: string | null;
  pageSize: number;
};

export type Listed = { tasks: TaskView[]; nextPageToken: string; pageSize: number; totalSize: number };

const MOST_COUNTED = 10_000;

/** A caller's own tasks, newest change first (A22). */
export async function listTasks(room: Room, place: Place, wanted: Listing): Promise<Listed | Fault> {
  if (place.caller === NOBODY)
    return new Fault(
      'unauthorized',
      'Without a key there is nothing to list: nobody can tell which tasks are yours.',
    );
  const before = wanted.pageToken === null ? undefined : fromPageToken(room, place, wanted.pageToken);
  if (isFault(before)) return before;
  const { agent, caller } = place;
  const { context: contextId, state, changedAfter } = wanted;
  return room.store.read(place.space, async (tx) => {
    const context =
      contextId === undefined ? undefined : await contextOf(room, tx, { place, contextId, network: null });
    const query = { agent, caller, context, state, changedAfter };
    const found = await tx.tasks.list({ ...query, before, limit: wanted.pageSize + 1 });
    const page = thatFit(found.slice(0, wanted.pageSize));
    const tasks: TaskView[] = [];
    for (const task of page) tasks.push(await viewTask(room, tx, task, wanted));
    const last = page.at(-1);
    return {
      tasks,
      nextPageToken: found.length > page.length && last !== undefined ? toPageToken(room, place, last) : '',
      pageSize: wanted.pageSize,
      totalSize: await tx.tasks.count(query, MOST_COUNTED),
    };
  });
}

/** Each task is read whole, so a page ends early rather than holding a hundred large ones (A24). */
function thatFit(tasks: readonly TaskRecord[]): readonly TaskRecord[] {
  let bytes = 0;
  const tooMany = tasks.findIndex((task, i) => {
    bytes += task.logBytes;
    return i > 0 && bytes > PAGE_BYTES;
  });
  return tooMany < 0 ? tasks : tasks.slice(0, tooMany);
}

// Another caller's token must look exactly like an invalid one, so it carries a MAC over whom it is for.
function toPageToken(room: Room, place: Place, last: TaskRecord): string {
  const at = `${last.changedAt}.${last.seq}`;
  return `${at}.${signature(room, place, at)}`;
}

function fromPageToken(room: Room, place: Place, token: string): { changedAt: Micros; seq: number } | Fault {
  const m = /^((\d{1,16})\.(\d{1,16}))\.([0-9a-f]{32})$/.exec(token);
  if (m === null || signature(room, place, m[1] ?? '') !== m[4])
    return new Fault('invalid_field', 'pageToken is not one that this list has given out.', {
      field: 'pageToken',
    });
  return { changedAt: Number(m[2]), seq: Number(m[3]) };
}

function signature(room: Room, { space, agent, caller }: Place, at: string): string {
  return room.vault.sha256(room.vault.mac(`tasks\n${space}\n${agent}\n${caller}\n${at}`)).slice(0, 32);
}
