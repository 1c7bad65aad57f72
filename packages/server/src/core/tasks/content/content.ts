import { isJsonObject, type Json, type JsonObject } from '../../canonical.ts';
import { Fault, isFault } from '../../faults.ts';
import type { SpaceId } from '../../ids.ts';
import type { Room } from '../../room.ts';
import type { Tx } from '../../store.ts';
import { findTask, noTask, type Place } from '../callers/place.ts';
import type { Blob } from '../store.ts';
import type { TaskRecord } from '../task.ts';
import { fromUploadUrl, isUploadUrl, namesUpload } from './upload-url.ts';

/**
 * The bytes of file parts are stored once per content, in chunks that are sealed one by one (A20). The log holds a
 * reference, `{"stored": {"id", "size"}, …}`, which a door turns into something its caller can read.
 */
export const CHUNK = 256 * 1024;
const SMALL_STEP = 20;

/** Bytes that came inside a frame. `part` is their place among the artifact's parts. */
export type PreparedContent = { part: number; bytes: Uint8Array; digest: string };

/** A keyed hash: equal content is found, and the database reveals nothing about it. */
export function contentDigest(room: Pick<Room, 'vault'>, space: SpaceId, sha256: string): string {
  return room.vault.mac(`content\n${space}\n${sha256}`);
}

export function chunkIdentity(space: SpaceId, blob: string, place: number): string {
  return `blob:${space}:${blob}:${place}`;
}

/** Puts references in the place of bytes and uploads. Nothing is written before all of them are checked. */
export async function keepContent(
  room: Room,
  tx: Tx,
  task: TaskRecord,
  { text, content }: { text: string; content: readonly PreparedContent[] },
): Promise<JsonObject | string | Fault> {
  // Most chunks contain neither, and stay as they were written.
  if (content.length === 0 && !namesUpload(text)) return text;
  const artifact = JSON.parse(text) as JsonObject;
  const parts = Array.isArray(artifact.parts) ? [...artifact.parts] : [];
  const uploads = await findUploads(room, tx, task, parts);
  if (isFault(uploads)) return uploads;
  for (const [at, blob] of uploads) parts[at] = await refer(tx, task, parts[at], blob);
  for (const given of content) {
    const blob = await storeBytes(room, tx, task, given);
    parts[given.part] = await refer(tx, task, parts[given.part], blob);
  }
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
    if (!isJsonObject(part) || typeof part.url !== 'string' || !isUploadUrl(part.url)) continue;
    const id = fromUploadUrl(room, { space: tx.space, task: task.id }, part.url);
    const blob = id === null ? null : await tx.blobs.get(id);
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

/** The part as the log holds it: with a reference in the place of its bytes or upload. */
async function refer(tx: Tx, task: TaskRecord, part: Json | undefined, blob: Blob): Promise<JsonObject> {
  await tx.blobs.use(task.seq, blob.id);
  const { raw: _raw, url: _url, ...rest } = part as JsonObject;
  return { ...rest, stored: { id: blob.id, size: blob.size } };
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
    isUnnamed: false,
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

export function newBlobId(room: Room): string {
  return `blob_${room.ids.letters(24)}`;
}

export function joined(pieces: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** The content behind a reference, for a caller who may read the task; for others there is none (A20). */
export function findContent(room: Room, place: Place, taskId: string, id: string): Promise<Blob | Fault> {
  return room.store.read(place.space, async (tx) => contentOf(tx, await findTask(tx, place, taskId), id));
}

/** For the desk, where everybody in the space may read every task. */
export function findContentOfSpace(
  room: Room,
  space: SpaceId,
  taskId: string,
  id: string,
): Promise<Blob | Fault> {
  return room.store.read(space, async (tx) => contentOf(tx, await tx.tasks.get(taskId), id));
}

async function contentOf(tx: Tx, task: TaskRecord | null, id: string): Promise<Blob | Fault> {
  if (task === null || !(await tx.blobs.isUsed(task.seq, id))) return noTask();
  return (await tx.blobs.get(id)) ?? noTask();
}

/**
 * One chunk at a time, so that a hundred megabytes are never in memory: all of it, or the bytes from `from` up to
 * `to`.
 */
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

/**
 * Removes content that was never named by an artifact, or whose tasks are all gone, a few at a time. True when there
 * may be more.
 */
export function retireContent(room: Room, space: SpaceId, before: number): Promise<boolean> {
  // The ledger's head locks out everybody who might be about to refer to it.
  return room.store.write(space, ['ledger'], async (tx) => {
    const unused = await tx.blobs.unused(before, SMALL_STEP);
    for (const id of unused) await tx.blobs.remove(id);
    return unused.length === SMALL_STEP;
  });
}
