import { readFile } from 'node:fs/promises';
import type { Content } from '@lanternroom/sdk/wake';
import { parseExact } from './exact-json.ts';
import { UsageError, type World } from './world.ts';

/**
 * `--details`: the text itself, `@file`, or `-` for standard input. A JSON object is sent as one, all else as text; so is
 * an object that would not arrive as it stands.
 */
export async function readDetails(given: string | undefined, world: World): Promise<Content | undefined> {
  if (given === undefined) return undefined;
  // Editors on Windows begin a file with a mark that is no part of it.
  const text = (await readText(given, world)).replace(/^\ufeff/, '');
  const value = parseExact(text);
  return isObject(value) ? value : text;
}

async function readText(given: string, world: World): Promise<string> {
  if (given === '-') return world.stdin();
  if (!given.startsWith('@')) return given;
  const path = given.slice(1);
  return readFile(path, 'utf8').catch(() => {
    throw new UsageError(`The file ${JSON.stringify(path)} for --details cannot be read: check the path.`);
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
