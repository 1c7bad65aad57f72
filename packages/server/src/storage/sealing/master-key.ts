import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { UsageError } from '../../config.ts';
import { codeOf } from '../error-code.ts';
import { isFull, replaceFile, syncFolder, writePrivately } from '../folder/folder.ts';

export const SECRET_FILE = 'secret.key';
const LEAST_SECRET = 24;

/** One key per line: the first seals, the others only open what they sealed earlier. */
export type MasterKeys = readonly [Uint8Array, ...Uint8Array[]];

export function masterKeys(folder: string, secret: string | null, hasData: boolean): MasterKeys {
  if (secret !== null) return toKeys(secret) ?? refuse('LANTERNROOM_SECRET');
  const file = join(folder, SECRET_FILE);
  if (existsSync(file)) return toKeys(readFileSync(file, 'utf8')) ?? refuse(file);
  if (hasData) {
    throw new Error(
      `${file} is missing, and the data was sealed with it. Put it back, or set LANTERNROOM_SECRET to the key that was used.`,
    );
  }
  const made = newKey();
  try {
    writeSecret(file, made);
  } catch (reason) {
    if (codeOf(reason) === 'EEXIST') return masterKeys(folder, secret, hasData); // another start was faster
    throw new Error(whyNot(folder, reason), { cause: reason });
  }
  return [Buffer.from(made)];
}

/** The keys in the data folder, as they stand there; null when there is no file. */
export function keysInFolder(folder: string): string[] | null {
  const file = join(folder, SECRET_FILE);
  if (!existsSync(file)) return null;
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.map((line) => line.trim()).filter((line) => line !== '');
}

export function replaceKeys(folder: string, keys: readonly string[]): void {
  try {
    replaceFile(join(folder, SECRET_FILE), `${keys.join('\n')}\n`);
  } catch (reason) {
    throw new Error(whyNot(folder, reason), { cause: reason });
  }
}

export function newKey(): string {
  return randomBytes(32).toString('base64');
}

/** Null when one of them is too short to be a key. */
function toKeys(text: string): MasterKeys | null {
  const lines = text.split('\n').map((line) => line.trim());
  const [first, ...others] = lines.filter((line) => line !== '').map((line) => Buffer.from(line));
  if (first === undefined || [first, ...others].some((key) => key.length < LEAST_SECRET)) return null;
  return [first, ...others];
}

function refuse(where: string): never {
  throw new UsageError(
    `${where} must have at least ${LEAST_SECRET} characters; "openssl rand -base64 32" makes a good one.`,
  );
}

/** Written completely or not at all, and on disk before anything is sealed with it. */
function writeSecret(file: string, key: string): void {
  const part = `${file}.${process.pid}.part`;
  try {
    writePrivately(part, `${key}\n`);
    putInPlace(part, file);
  } finally {
    rmSync(part, { force: true });
  }
  syncFolder(dirname(file));
}

/**
 * Unlike a rename, a link never replaces a key that another process has just made; but not every file system has
 * links.
 */
function putInPlace(part: string, file: string): void {
  try {
    linkSync(part, file);
  } catch (reason) {
    if (codeOf(reason) === 'EEXIST') throw reason;
    renameSync(part, file);
  }
}

function whyNot(folder: string, reason: unknown): string {
  if (isFull(codeOf(reason))) return `The disk of ${folder} is full. Free some space and start again.`;
  return `The data folder ${folder} cannot be written. Check its owner and permissions, or choose another with --data.`;
}
