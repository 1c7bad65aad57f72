import { readdir, readFile, rename, stat, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../error-code.ts';
import { makeFolder } from '../folder.ts';

/**
 * Questions whose answer nobody has used yet, one small file each, written before the question is asked. When a hook
 * ran out of time or was killed, the next call of the same tool with the same input goes on with that question instead
 * of asking again. An answer is used once: whoever removes the file has it.
 */
export interface Claim {
  /** The idempotency key: sending the question again with it is the same question. */
  readonly key: string;
  /** The call that was asked about, as its host named it; part of the question. */
  readonly callId: string | null;
  /** Null until the server has taken it. */
  readonly deliveryId: string | null;
}

export interface Claims {
  /** Fails where nothing can be stored: this is found out before anybody is asked. */
  prepare(): Promise<void>;
  /** A question about the same call that no running hook is waiting for. */
  orphan(fingerprint: string): Promise<Claim | null>;
  /** From now on this process waits for it. */
  keep(fingerprint: string, claim: Claim): Promise<void>;
  /** True for exactly one caller. */
  take(fingerprint: string, claim: Claim): Promise<boolean>;
  /**
   * The key for a question about a call: its own, or another one when an answer under it was used before this process
   * began. Some models give a later call the id of an earlier one, whose answer is none to this.
   */
  keyFor(call: string): Promise<string>;
}

const DAY_MS = 24 * 3_600_000;
const KEPT_MS = 7 * DAY_MS;
/** The server knows a key for a day. */
const USED_KEPT_MS = 2 * DAY_MS;
const USED = 'used.';

export function openClaims(folder: string): Claims {
  const fileOf = (fingerprint: string, { key }: Claim) => join(folder, `${fingerprint}.${key}`);
  const noteUse = ({ key }: Claim) =>
    writeFile(join(folder, `${USED}${key}`), '', { mode: 0o600 }).catch(unusable(folder));
  const startedMs = Date.now() - process.uptime() * 1_000;
  // A hook that runs beside the one that has used it was started for the same call.
  const wasUsed = (key: string) =>
    stat(join(folder, `${USED}${key}`)).then(
      ({ mtimeMs }) => mtimeMs < startedMs,
      () => false,
    );
  return {
    prepare: async () => {
      try {
        makeFolder(folder, 0o700);
      } catch (reason) {
        unusable(folder)(reason);
      }
      await forgetOld(folder);
    },
    orphan: async (fingerprint) => {
      for (const name of await namesIn(folder)) {
        if (!name.startsWith(`${fingerprint}.`)) continue;
        const read = readClaim(await readFile(join(folder, name), 'utf8').catch(() => ''));
        if (read !== null && !isRunning(read.pid)) return read.claim;
      }
      return null;
    },
    // Written completely or not at all: a hook may be killed at any moment, and half a file would lose the question.
    keep: async (fingerprint, claim) => {
      const half = join(folder, `.${claim.key}.${process.pid}`);
      const text = JSON.stringify({ pid: process.pid, ...claim });
      await writeFile(half, text, { mode: 0o600 }).catch(unusable(folder));
      await rename(half, fileOf(fingerprint, claim));
    },
    take: (fingerprint, claim) =>
      unlink(fileOf(fingerprint, claim)).then(
        () => noteUse(claim).then(() => true),
        () => false,
      ),
    keyFor: async (call) => {
      let key = call;
      for (let again = 1; await wasUsed(key); again += 1) key = `${call}-${again}`;
      return key;
    },
  };
}

/** Null for what is not a claim, such as half a file after a power failure: then the question is asked again. */
function readClaim(text: string): { claim: Claim; pid: number } | null {
  try {
    const { pid, key, callId, deliveryId } = JSON.parse(text);
    return { pid: Number(pid), claim: { key: String(key), callId, deliveryId } };
  } catch {
    return null;
  }
}

function unusable(folder: string) {
  return (cause: unknown): never => {
    throw new Error(
      `What was asked is noted in ${folder}, which cannot be written (${codeOf(cause)}): make room there, or let HOME name a folder that can be written.`,
      { cause },
    );
  };
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

/** If the number meanwhile belongs to another program, we only ask again. */
function isRunning(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

async function forgetOld(folder: string): Promise<void> {
  for (const name of await namesIn(folder)) {
    const file = join(folder, name);
    const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Date.now() }));
    const keptMs = name.startsWith(USED) ? USED_KEPT_MS : KEPT_MS;
    if (Date.now() - mtimeMs > keptMs) await unlink(file).catch(() => undefined);
  }
}
