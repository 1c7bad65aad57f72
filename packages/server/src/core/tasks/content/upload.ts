import { Fault, isFault } from '../../faults.ts';
import type { AgentId, SpaceId } from '../../ids.ts';
import type { Room } from '../../room.ts';
import type { Tx } from '../../store.ts';
import { DAY } from '../../time.ts';
import type { Blob, Unnamed } from '../store.ts';
import { CHUNK, chunkIdentity, contentDigest, joined, newBlobId } from './content.ts';
import { toUploadUrl } from './upload-url.ts';

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

/**
 * What an agent may have uploaded and not named in an artifact: else one key could fill the disk within a day. An
 * artifact names up to a thousand at once, and an agent works on several tasks.
 */
export const MOST_UNNAMED: Unnamed = { count: 5000, bytes: 4 * 1024 ** 3 };

function tooMuchUnnamed(): Fault {
  const { count, bytes } = MOST_UNNAMED;
  return new Fault(
    'payload_too_large',
    `An agent may have ${count} uploads, and ${bytes} bytes in them, that no artifact names. Send the artifacts first; what is not named is removed a day after it arrived.`,
  );
}

/** What was uploaded longer ago is about to be removed. */
function unnamedOf(room: Room, tx: Tx, agent: AgentId): Promise<Unnamed> {
  return tx.blobs.unnamed(agent, room.clock.now() - DAY);
}

/** Takes content of any length in, chunk by chunk: each is on disk before the next is asked for. */
export async function upload(
  room: Room,
  uploading: Uploading,
  source: AsyncIterable<Uint8Array>,
): Promise<Uploaded | Fault> {
  const { space, task, hasher } = uploading;
  const id = await begin(room, uploading);
  if (isFault(id)) return id;
  const drop = () => room.store.write(space, [], (tx) => tx.blobs.remove(id));
  const taken = await takeChunks(room, { ...uploading, id }, source).catch(async (reason: unknown) => {
    // The upload broke off, or its key has ended: nobody can ask for what has arrived so far. If it cannot be removed
    // now, the ticker does it later.
    await drop().catch(() => {});
    throw reason;
  });
  if (isFault(taken)) {
    await drop();
    return taken;
  }
  const sha256 = hasher.digest();
  const digest = contentDigest(room, space, sha256);
  const kept = await room.store.write(space, ['ledger'], async (tx) => {
    const twin = await tx.blobs.byDigest(digest);
    if (twin === null) {
      await tx.blobs.finish(id, { digest, ...taken });
      return id;
    }
    await tx.blobs.remove(id);
    // The content may have been unused since it first came; an artifact may refer to it within a day from now, as
    // with any upload.
    await tx.blobs.renew(twin.id, room.clock.now());
    return twin.id;
  });
  return { url: toUploadUrl(room, { space, task }, kept), size: taken.size, sha256 };
}

/** Under the ledger's head, so that many that begin at once are counted one after the other. */
function begin(room: Room, { space, agent }: Uploading): Promise<string | Fault> {
  const id = newBlobId(room);
  const createdAt = room.clock.now();
  const blob: Blob = { id, agent, digest: null, size: 0, chunks: 0, createdAt, isUnnamed: true };
  return room.store.write(space, ['ledger'], async (tx) => {
    const { count } = await unnamedOf(room, tx, agent);
    if (count >= MOST_UNNAMED.count) return tooMuchUnnamed();
    await tx.blobs.insert(blob);
    return id;
  });
}

async function takeChunks(
  room: Room,
  { space, agent, id, hasher, most }: Uploading & { id: string },
  source: AsyncIterable<Uint8Array>,
): Promise<{ size: number; chunks: number } | Fault> {
  let size = 0;
  let chunks = 0;
  for await (const bytes of inChunks(source)) {
    size += bytes.length;
    if (size > most) return uploadTooLarge(most);
    hasher.update(bytes);
    const place = chunks++;
    const sealed = room.vault.seal(bytes, chunkIdentity(space, id, place));
    const length = size;
    const refusal = await room.store.write(space, [], async (tx) => {
      // What other uploads write at this very moment is not counted yet: a chunk of each at most.
      const unnamed = await unnamedOf(room, tx, agent);
      if (unnamed.bytes + bytes.length > MOST_UNNAMED.bytes) return tooMuchUnnamed();
      await tx.blobs.grow(id, length);
      await tx.blobs.insertChunk(id, place, sealed);
      return null;
    });
    if (refusal !== null) return refusal;
  }
  return { size, chunks };
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
