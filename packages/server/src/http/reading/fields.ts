import type { Json, JsonObject } from '../../core/canonical.ts';
import { Fault } from '../../core/faults.ts';
import { findForbidden, isBlank, isLongerThan } from '../../core/text.ts';

/** Readers of one field each: missing is 400, wrong is 422, and both name the field (W7, W8). */

export function missing(field: string): Fault {
  return new Fault('missing_field', `${field} is required.`, { field });
}

export function invalid(field: string, message: string): Fault {
  return new Fault('invalid_field', message, { field });
}

export function requiredText(body: JsonObject, field: string, most: number): string {
  const value = body[field];
  if (value === undefined || value === null) throw missing(field);
  return text(field, value, most);
}

export function optionalText(body: JsonObject, field: string, most: number): string | null {
  const value = body[field];
  return value === undefined || value === null ? null : text(field, value, most);
}

function text(field: string, value: Json, most: number): string {
  if (typeof value !== 'string') throw invalid(field, `${field} must be a string.`);
  if (isBlank(value)) throw invalid(field, `${field} must not be empty.`);
  // SQLite would end a text there, and PostgreSQL refuses it.
  if (value.includes('\0')) throw invalid(field, `${field} must not hold the control character U+0000.`);
  if (isLongerThan(value, most)) throw invalid(field, `${field} may have at most ${most} characters.`);
  return value;
}

/** Text that is shown on one line in a person's list: nothing in it may pretend to be something else (W9). */
export function requiredLine(body: JsonObject, field: string, most: number): string {
  return line(field, requiredText(body, field, most));
}

export function optionalLine(body: JsonObject, field: string, most: number): string | null {
  const value = optionalText(body, field, most);
  return value === null ? null : line(field, value);
}

function line(field: string, value: string): string {
  const found = findForbidden(value);
  if (found === null) return value;
  const code = `U+${found.codePoint.toString(16).toUpperCase().padStart(4, '0')}`;
  throw invalid(
    field,
    `${field} must be one plain line: it holds a ${found.kind} (${code}) at position ${found.index}.`,
  );
}

export function requiredChoice<T extends string>(body: JsonObject, field: string, choices: readonly T[]): T {
  const value = body[field];
  if (value === undefined || value === null) throw missing(field);
  return choice(field, value, choices);
}

export function choice<T extends string>(field: string, value: unknown, choices: readonly T[]): T {
  const found = choices.find((c) => c === value);
  if (found === undefined) throw invalid(field, `${field} must be one of ${choices.join(', ')}.`);
  return found;
}

const MOST_ADDRESSES = 100;

/** An allowlist, as a list of texts; what each may be is the core's to say. */
export function addresses(field: string, value: Json | undefined): string[] {
  if (value === undefined) throw missing(field);
  const isList = Array.isArray(value) && value.every((entry) => typeof entry === 'string');
  if (isList && value.length <= MOST_ADDRESSES) return value as string[];
  throw invalid(field, `${field} must be a list of at most ${MOST_ADDRESSES} addresses.`);
}

export function optionalWhole(body: JsonObject, field: string, least: number, most: number): number | null {
  const value = body[field];
  if (value === undefined || value === null) return null;
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value;
  throw invalid(field, `${field} must be a whole number from ${least} to ${most}.`);
}

/** A query parameter that counts something; repeated or odd ones are refused, not guessed. */
export function wholeQuery(
  query: Query,
  field: string,
  range: { least: number; most: number },
): number | null {
  const value = single(query, field);
  if (value === null) return null;
  const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
  if (number >= range.least && number <= range.most) return number;
  throw invalid(field, `${field} must be a whole number from ${range.least} to ${range.most}.`);
}

export type Query = Record<string, unknown>;

/** Where a page begins. An empty one is none: in the first round of a script, there is nothing to fill in. */
export function cursorOf(query: Query): string | null {
  return single(query, 'cursor') || null;
}

export function single(query: Query, field: string): string | null {
  const value = query[field];
  if (value === undefined) return null;
  if (typeof value !== 'string') throw invalid(field, `${field} may be given only once.`);
  return value;
}
