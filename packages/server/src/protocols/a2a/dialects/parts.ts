import { isJsonObject, type Json, type JsonObject } from '../../../core/canonical.ts';
import { Fault } from '../../../core/faults.ts';

/**
 * Parts in the three spellings, read into the one that is stored (A5): `{text}`, `{data}`, `{raw}` or `{url}`, with
 * `mediaType`, `filename` and `metadata`.
 */
export type Spelling = '1.0' | '0.3' | 'seed' | 'any';

export function wrong(field: string, message: string): Fault {
  return new Fault('invalid_field', `${field} ${message}`, { field });
}

export function toParts(value: unknown, field: string, spelling: Spelling): JsonObject[] {
  if (!Array.isArray(value) || value.length === 0)
    throw wrong(field, 'must be an array with at least one part.');
  return value.map((part, i) => toPart(part, `${field}[${i}]`, spelling));
}

function toPart(part: unknown, field: string, spelling: Spelling): JsonObject {
  if (!isJsonObject(part)) throw wrong(field, 'must be an object.');
  const tag = spelling === '0.3' ? part.kind : (part.kind ?? part.type);
  if (spelling === '1.0' || (spelling === 'any' && typeof tag !== 'string')) return toPlainPart(part, field);
  if (typeof tag !== 'string') throw wrong(`${field}.kind`, 'is required: text, file or data.');
  return { ...toTagged(tag, part, field), ...metadataOf(part, field) };
}

const CONTENT = ['text', 'raw', 'url', 'data'] as const;

/** In 1.0 the member that is present says what the part is. */
function toPlainPart(part: JsonObject, field: string): JsonObject {
  // Proto clients write null for nothing; only for `data` is it a value.
  const given = CONTENT.filter(
    (name) => part[name] !== undefined && (part[name] !== null || name === 'data'),
  );
  if (given.length !== 1) throw wrong(field, 'must have exactly one of text, raw, url or data.');
  const name = given[0] ?? 'text';
  const value = part[name] as Json;
  if (name !== 'data' && typeof value !== 'string') throw wrong(`${field}.${name}`, 'must be a string.');
  if (name === 'raw') assertBase64(value as string, `${field}.raw`);
  return {
    [name]: value,
    ...optional(part, 'mediaType', 'media_type', field),
    ...optional(part, 'filename', 'filename', field),
    ...metadataOf(part, field),
  };
}

function toTagged(tag: string, part: JsonObject, field: string): JsonObject {
  if (tag === 'text') {
    if (typeof part.text !== 'string') throw wrong(`${field}.text`, 'must be a string.');
    const { metadata } = part;
    const mediaType = isJsonObject(metadata) ? metadata.mediaType : undefined;
    return { text: part.text, ...(typeof mediaType === 'string' ? { mediaType } : {}) };
  }
  if (tag === 'data') {
    if (!isJsonObject(part.data)) throw wrong(`${field}.data`, 'must be an object.');
    return { data: part.data };
  }
  if (tag === 'file') return toFile(part.file, `${field}.file`);
  throw wrong(`${field}.kind`, 'must be text, file or data.');
}

function toFile(file: Json | undefined, field: string): JsonObject {
  if (!isJsonObject(file)) throw wrong(field, 'must be an object.');
  const { bytes, uri, name } = file;
  const mediaType = file.mimeType ?? file.mediaType;
  if ((typeof bytes === 'string') === (typeof uri === 'string'))
    throw wrong(field, 'must have exactly one of bytes or uri.');
  if (typeof bytes === 'string') assertBase64(bytes, `${field}.bytes`);
  return {
    ...(typeof bytes === 'string' ? { raw: bytes } : { url: uri as string }),
    ...(typeof name === 'string' ? { filename: name } : {}),
    ...(typeof mediaType === 'string' ? { mediaType } : {}),
  };
}

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

function assertBase64(text: string, field: string): void {
  const padding = text.indexOf('=');
  const length = padding < 0 ? text.length : padding;
  // A single character after the last group of four is less than a byte.
  if (!BASE64.test(text) || length % 4 === 1) throw wrong(field, 'must be base64.');
}

function optional(part: JsonObject, name: string, snake: string, field: string): JsonObject {
  const value = part[name] ?? part[snake];
  if (value === undefined || value === null || value === '') return {};
  if (typeof value !== 'string') throw wrong(`${field}.${name}`, 'must be a string.');
  return { [name]: value };
}

export function metadataOf(holder: JsonObject, field: string): JsonObject {
  const { metadata } = holder;
  if (metadata === undefined || metadata === null) return {};
  if (!isJsonObject(metadata)) throw wrong(`${field}.metadata`, 'must be an object.');
  return { metadata };
}
