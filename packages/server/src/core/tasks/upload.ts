import { Fault, isFault } from '../faults.ts';
import type { AgentId, SpaceId } from '../ids.ts';
import type { Room } from '../room.ts';
import { CHUNK, chunkIdentity, contentDigest, joined, newBlobId } from './content.ts';
import type { Blob } from './store.ts';
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

/** Takes content of any length in, chunk by chunk: each is on disk before the next is asked for. */
export async function upload(
  room: Room,
  uploading: Uploading,
  source: AsyncIterable<Uint8Array>,
): Promise<Uploaded | Fault> {
  const { space, agent, task, hasher } = uploading;
  const id = newBlobId(room);
  const blob: Blob = { id, agent, digest: null, size: 0, chunks: 0, createdAt: room.clock.now() };
  await room.store.write(space, [], (tx) => tx.blobs.insert(blob));
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

async function takeChunks(
  room: Room,
  { space, id, hasher, most }: Uploading & { id: string },
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
    await room.store.write(space, [], (tx) => tx.blobs.insertChunk(id, place, sealed));
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
