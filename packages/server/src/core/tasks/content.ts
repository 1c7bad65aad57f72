import { isJsonObject, type Json, type JsonObject } from '../canonical.ts';
import { Fault, isFault } from '../faults.ts';
import type { AgentId, SpaceId } from '../ids.ts';
import type { Room } from '../room.ts';
import type { Tx } from '../store.ts';
import { findTask, noTask, type Place } from './place.ts';
import type { Blob } from './store.ts';
import type { TaskRecord } from './task.ts';

/**
 * The bytes of file parts are stored once, by content, in chunks that are sealed one by one (A20). In the log stands a
 * reference: `{"stored": {"id", "size"}, …}`, which a door turns into what its caller can read.
 */
export const CHUNK = 256 * 1024;
const SMALL_STEP = 20;
const UPLOAD_SCHEME = 'lantern-upload:';
const PROOF_LENGTH = 32;

/** Bytes that came inside a frame. `part` is their place among the artifact's parts. */
export type PreparedContent = { part: number; bytes: Uint8Array; digest: string };

/** A keyed hash: equal content is found, and the database tells nobody which. */
export function contentDigest(room: Pick<Room, 'vault'>, space: SpaceId, sha256: string): string {
  return room.vault.mac(`content\n${space}\n${sha256}`);
}

export function chunkIdentity(space: SpaceId, blob: string, place: number): string {
  return `blob:${space}:${blob}:${place}`;
}

/** Puts references where bytes and uploads were. Nothing is written before all of them are known to be fine. */
export async function keepContent(
  room: Room,
  tx: Tx,
  task: TaskRecord,
  text: string,
  content: readonly PreparedContent[],
): Promise<JsonObject | string | Fault> {
  // Most chunks hold neither, and stay as they were written.
  if (content.length === 0 && !text.includes(UPLOAD_SCHEME)) return text;
  const artifact = JSON.parse(text) as JsonObject;
  const parts = Array.isArray(artifact.parts) ? [...artifact.parts] : [];
  const uploads = await findUploads(room, tx, task, parts);
  if (isFault(uploads)) return uploads;
  for (const [at, blob] of uploads) await refer(tx, task, parts, at, blob);
  for (const given of content)
    await refer(tx, task, parts, given.part, await storeBytes(room, tx, task, given));
  return { ...artifact, parts };
}

async function findUploads(
  room: Room,
  tx: Tx,
  task: TaskRecord,
  parts: readonly Json[],
): Promise<Map<number, Blob> | Fault> {
  const found = new Map<number, Blob>();
  for (const [at, part] of parts.entries()) {
    if (!isJsonObject(part) || typeof part.url !== 'string' || !part.url.startsWith(UPLOAD_SCHEME)) continue;
    const [id = ''] = part.url.slice(UPLOAD_SCHEME.length).split('.', 1);
    const isOfTask = part.url === uploadUrl(room, { space: tx.space, task: task.id }, id);
    const blob = isOfTask ? await tx.blobs.get(id) : null;
    if (blob === null || blob.digest === null)
      return new Fault(
        'invalid_field',
        'This task has no finished upload with this url. Upload the content again.',
        {
          field: `artifact.parts.${at}.url`,
        },
      );
    found.set(at, blob);
  }
  return found;
}

/**
 * The id alone would not do: equal content has one id for all agents, and readers of a task see it in an address. What
 * stands behind the dot says that it was uploaded for this task.
 */
function uploadUrl(
  { vault }: Pick<Room, 'vault'>,
  { space, task }: Pick<Uploading, 'space' | 'task'>,
  id: string,
): string {
  const proof = vault.mac(`upload\n${space}\n${task}\n${id}`).replace(/\W/g, '').slice(0, PROOF_LENGTH);
  return `${UPLOAD_SCHEME}${id}.${proof}`;
}

async function refer(tx: Tx, task: TaskRecord, parts: Json[], at: number, blob: Blob): Promise<void> {
  const { raw: _raw, url: _url, ...rest } = parts[at] as JsonObject;
  parts[at] = { ...rest, stored: { id: blob.id, size: blob.size } };
  await tx.blobs.use(task.seq, blob.id);
}

async function storeBytes(room: Room, tx: Tx, task: TaskRecord, given: PreparedContent): Promise<Blob> {
  const known = await tx.blobs.byDigest(given.digest);
  if (known !== null) return known;
  const blob: Blob = {
    id: newBlobId(room),
    agent: task.agent,
    digest: given.digest,
    size: given.bytes.length,
    chunks: Math.ceil(given.bytes.length / CHUNK),
    createdAt: room.clock.now(),
  };
  await tx.blobs.insert(blob);
  for (let place = 0; place < blob.chunks; place++) {
    const bytes = given.bytes.subarray(place * CHUNK, (place + 1) * CHUNK);
    await tx.blobs.insertChunk(
      blob.id,
      place,
      room.vault.seal(bytes, chunkIdentity(tx.space, blob.id, place)),
    );
  }
  return blob;
}

function newBlobId(room: Room): string {
  return `blob_${room.ids.letters(24)}`;
}

/** A running hash; the core has none of its own. */
export interface Hasher {
  update(bytes: Uint8Array): void;
  /** SHA-256, hexadecimal. */
  digest(): string;
}

export type Uploaded = { url: string; size: number; sha256: string };
type Uploading = { space: SpaceId; agent: AgentId; task: string; hasher: Hasher; most: number };

export function uploadTooLarge(most: number): Fault {
  return new Fault('payload_too_large', `An upload may have at most ${most} bytes.`);
}

/** Takes content of any length in, chunk by chunk: each is on disk before the next is asked for. */
export async function upload(
  room: Room,
  { space, agent, task, hasher, most }: Uploading,
  source: AsyncIterable<Uint8Array>,
): Promise<Uploaded | Fault> {
  const id = newBlobId(room);
  const blob: Blob = { id, agent, digest: null, size: 0, chunks: 0, createdAt: room.clock.now() };
  await room.store.write(space, [], (tx) => tx.blobs.insert(blob));
  let size = 0;
  let chunks = 0;
  for await (const bytes of inChunks(source)) {
    size += bytes.length;
    if (size > most) {
      await room.store.write(space, [], (tx) => tx.blobs.remove(id));
      return uploadTooLarge(most);
    }
    hasher.update(bytes);
    const place = chunks++;
    const sealed = room.vault.seal(bytes, chunkIdentity(space, id, place));
    await room.store.write(space, [], (tx) => tx.blobs.insertChunk(id, place, sealed));
  }
  const sha256 = hasher.digest();
  const digest = contentDigest(room, space, sha256);
  const kept = await room.store.write(space, ['ledger'], async (tx) => {
    const twin = await tx.blobs.byDigest(digest);
    if (twin === null) {
      await tx.blobs.finish(id, { digest, size, chunks });
      return id;
    }
    await tx.blobs.remove(id);
    // Nobody may have named it since it first came; the artifact that will has a day from now, as for any upload.
    await tx.blobs.renew(twin.id, room.clock.now());
    return twin.id;
  });
  return { url: uploadUrl(room, { space, task }, kept), size, sha256 };
}

async function* inChunks(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let held: Uint8Array[] = [];
  let length = 0;
  for await (const bytes of source) {
    let rest = bytes;
    while (length + rest.length >= CHUNK) {
      const taken = CHUNK - length;
      yield joined([...held, rest.subarray(0, taken)], CHUNK);
      rest = rest.subarray(taken);
      held = [];
      length = 0;
    }
    if (rest.length > 0) held.push(rest);
    length += rest.length;
  }
  if (length > 0) yield joined(held, length);
}

function joined(pieces: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** The content behind a reference, for whoever may read the task; null for everybody else (A20). */
export function findContent(room: Room, place: Place, taskId: string, id: string): Promise<Blob | Fault> {
  return room.store.read(place.space, async (tx) => {
    const task = await findTask(tx, place, taskId);
    if (task === null || !(await tx.blobs.isUsed(task.seq, id))) return noTask();
    return (await tx.blobs.get(id)) ?? noTask();
  });
}

/** For the desk, where everybody of the space may read every task. */
export function findContentOfSpace(
  room: Room,
  space: SpaceId,
  taskId: string,
  id: string,
): Promise<Blob | Fault> {
  return room.store.read(space, async (tx) => {
    const task = await tx.tasks.get(taskId);
    if (task === null || !(await tx.blobs.isUsed(task.seq, id))) return noTask();
    return (await tx.blobs.get(id)) ?? noTask();
  });
}

/** One chunk at a time: a hundred megabytes are never in memory. All of it, or the bytes from `from` up to `to`. */
export async function* readContent(
  room: Room,
  space: SpaceId,
  blob: Blob,
  { from, to }: { from: number; to: number } = { from: 0, to: blob.size },
): AsyncGenerator<Uint8Array> {
  for (let place = Math.floor(from / CHUNK); place * CHUNK < to; place++) {
    const sealed = await room.store.read(space, (tx) => tx.blobs.chunk(blob.id, place));
    if (sealed === null) throw new Error(`content ${blob.id} has lost chunk ${place}`);
    const bytes = room.vault.open(sealed, chunkIdentity(space, blob.id, place));
    yield bytes.subarray(Math.max(0, from - place * CHUNK), to - place * CHUNK);
  }
}

/** The whole of something small. */
export async function readAll(room: Room, space: SpaceId, blob: Blob): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of readContent(room, space, blob)) pieces.push(piece);
  return joined(pieces, blob.size);
}

/** Content that was never named by an artifact, or whose tasks have all left. */
export function retireContent(room: Room, space: SpaceId, before: number): Promise<void> {
  // The ledger's head keeps everybody out who might be about to refer to it.
  return room.store.write(space, ['ledger'], async (tx) => {
    for (const id of await tx.blobs.unused(before, SMALL_STEP)) await tx.blobs.remove(id);
  });
}
