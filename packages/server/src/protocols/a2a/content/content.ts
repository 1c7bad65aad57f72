import { isJsonObject, type Json, type JsonObject } from '../../../core/canonical.ts';
import type { Room } from '../../../core/room.ts';
import { readAll } from '../../../core/tasks/content/content.ts';

/** File content up to this size is sent with its task; larger content is fetched from its own address (A20). */
const INLINE_MOST = 256 * 1024;
/** The limit for one answer: many small pieces may add up. */
const INLINE_ALL = 4 * 1024 * 1024;

/** How many bytes of file content an answer still has room for. */
export type Allowance = { left: number };

export const fullAllowance = (): Allowance => ({ left: INLINE_ALL });

/** Where the content of a task is served; `base` is the agent's address with its slash. */
export type Outlet = { room: Room; space: string; base: string };

/** Turns references into something a caller can read: the bytes themselves, or an address. */
export async function withContent(
  outlet: Outlet,
  taskId: string,
  artifact: JsonObject,
  allowance = fullAllowance(),
): Promise<JsonObject> {
  const { parts } = artifact;
  if (!Array.isArray(parts) || !parts.some(isReference)) return artifact;
  const shown: Json[] = [];
  for (const part of parts) shown.push(await shownPart(outlet, taskId, part, allowance));
  return { ...artifact, parts: shown };
}

type Reference = JsonObject & { stored: { id: string; size: number } };

function isReference(part: Json): part is Reference {
  return isJsonObject(part) && isJsonObject(part.stored);
}

async function shownPart(outlet: Outlet, taskId: string, part: Json, allowance: Allowance): Promise<Json> {
  if (!isReference(part)) return part;
  const { stored, ...rest } = part;
  if (stored.size > Math.min(INLINE_MOST, allowance.left))
    return { url: `${outlet.base}tasks/${encodeURIComponent(taskId)}/content/${stored.id}`, ...rest };
  allowance.left -= stored.size;
  const { room, space } = outlet;
  const blob = await room.store.read(space, (tx) => tx.blobs.get(stored.id));
  if (blob === null) throw new Error(`content ${stored.id} is not there`);
  return { raw: Buffer.from(await readAll(room, space, blob)).toString('base64'), ...rest };
}

export async function withAllContent<T extends { id: string; artifacts?: JsonObject[] }>(
  outlet: Outlet,
  view: T,
  allowance = fullAllowance(),
): Promise<T> {
  if (view.artifacts === undefined) return view;
  const artifacts: JsonObject[] = [];
  for (const artifact of view.artifacts)
    artifacts.push(await withContent(outlet, view.id, artifact, allowance));
  return { ...view, artifacts };
}
