import { isJsonObject, type Json, type JsonObject } from '../../../core/canonical.ts';
import { fromIso, type Micros } from '../../../core/time.ts';
import { wrong } from './parts.ts';

/** Readers of one member each; what is wrong is named with its whole path (A11). */

/** camelCase, or the snake_case that proto speakers write (A4). */
export function member(holder: JsonObject, name: string): Json | undefined {
  const value = holder[name] ?? holder[snakeOf(name)];
  return value === null ? undefined : value;
}

/** Only our own names are looked up, so this stays small. */
const snakes = new Map<string, string>();

function snakeOf(name: string): string {
  let snake = snakes.get(name);
  if (snake === undefined) {
    snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    snakes.set(name, snake);
  }
  return snake;
}

const ID_MOST = 512;

export function requiredId(holder: JsonObject, name: string, field = name): string {
  const value = member(holder, name);
  if (typeof value !== 'string' || value === '')
    throw wrong(field, 'is required: a string that is not empty.');
  if (value.length > ID_MOST) throw wrong(field, `may have at most ${ID_MOST} characters.`);
  // SQLite would end a text there, and PostgreSQL refuses it.
  if (value.includes('\0')) throw wrong(field, 'must not hold the control character U+0000.');
  return value;
}

export function optionalId(holder: JsonObject, name: string, field = name): string | null {
  const value = member(holder, name);
  if (value === undefined || value === '') return null;
  if (typeof value !== 'string') throw wrong(field, 'must be a string.');
  return requiredId(holder, name, field);
}

export function optionalObject(holder: JsonObject, name: string, field = name): JsonObject {
  const value = member(holder, name);
  if (value === undefined) return {};
  if (!isJsonObject(value)) throw wrong(field, 'must be an object.');
  return value;
}

export function optionalFlag(holder: JsonObject, name: string, field = name): boolean | undefined {
  const value = member(holder, name);
  if (value === undefined || typeof value === 'boolean') return value;
  throw wrong(field, 'must be true or false.');
}

const INT32 = 2_147_483_647;

export function optionalCount(
  holder: JsonObject,
  name: string,
  range: { least: number; most?: number; field?: string },
): number | undefined {
  const value = member(holder, name);
  if (value === undefined) return undefined;
  const { least, most = INT32, field = name } = range;
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value;
  throw wrong(field, `must be a whole number from ${least} to ${most}.`);
}

export function optionalTime(holder: JsonObject, name: string): Micros | undefined {
  const value = member(holder, name);
  if (value === undefined) return undefined;
  const at = typeof value === 'string' ? fromIso(value) : null;
  if (at === null) throw wrong(name, 'must be an ISO 8601 time.');
  return at;
}

export function optionalTexts(holder: JsonObject, name: string, field = name): JsonObject {
  const value = member(holder, name);
  if (value === undefined) return {};
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string'))
    throw wrong(field, 'must be an array of strings.');
  return value.length === 0 ? {} : { [name]: value };
}
