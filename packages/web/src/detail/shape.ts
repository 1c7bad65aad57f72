import { ExactNumber } from '../api/exact-json.ts';
import type { Json, JsonObject } from '../api/types.ts';

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);

export type Block = JsonObject & { type: string };

/** The column names if this can be a table: at least two flat objects that share most of their keys. */
export function tableKeys(value: readonly Json[]): string[] | null {
  if (value.length < 2 || !value.every((item) => isObject(item) && Object.values(item).every(isFlat)))
    return null;
  const keys = [...new Set(value.flatMap((item) => Object.keys(item as JsonObject)))];
  const filled = value.reduce<number>((sum, item) => sum + Object.keys(item as JsonObject).length, 0);
  return keys.length <= 12 && filled >= (keys.length * value.length) / 2 ? keys : null;
}

/** The rows of a table block as objects by column name: they are sent as objects, or as lists beside `columns`. */
export function tableRows(block: Block): readonly Json[] {
  const rows = Array.isArray(block.rows) ? block.rows : [];
  const columns = block.columns ?? block.headers;
  if (!Array.isArray(columns) || !columns.every((name) => typeof name === 'string')) return rows;
  return rows.map((row) =>
    Array.isArray(row)
      ? Object.fromEntries(columns.map((name, index) => [name, row[index] ?? null] as const))
      : row,
  );
}

function isFlat(value: Json): boolean {
  return typeof value !== 'object' || value === null || value instanceof ExactNumber;
}

const BLOCKS = new Set([
  'markdown',
  'text',
  'code',
  'diff',
  'json',
  'table',
  'image',
  'link',
  'file',
  'quote',
]);

/** `details: {blocks: [{type: "markdown", …}, …]}`, where each block has a known type; otherwise null. */
export function blocksOf(details: JsonObject): Block[] | null {
  const { blocks } = details;
  if (!Array.isArray(blocks) || blocks.length === 0) return null;
  const known = blocks.every(
    (block) => isObject(block) && typeof block.type === 'string' && BLOCKS.has(block.type),
  );
  return known ? (blocks as Block[]) : null;
}

/** What is spelled in capitals, also in the plural: "API key IDs". */
const CAPITALS = /\b(api|cpu|csv|[gkmt]b|html|https?|id|ip|json|pdf|sql|ur[il]|utc|uuid|xml)(s?)\b/gi;

/** `due_date` and `dueDate` read as "Due date", `html_url` as "HTML URL"; the exact name is in the tooltip. */
export function keyLabel(key: string): string {
  const spaced = key
    .replace(/([a-z\d])([A-Z])(?=[a-z])/g, (_, end: string, next: string) => `${end} ${next.toLowerCase()}`)
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/[_-]+/g, ' ')
    .trim()
    .replace(CAPITALS, (_, word: string, many: string) => word.toUpperCase() + many);
  return /^[\x20-\x7e]+$/.test(spaced) ? spaced.charAt(0).toUpperCase() + spaced.slice(1) : key;
}

export const isProse = (text: string) => text.includes('\n') || text.length > 160;

/** How many items are inside, for "12 parts". */
export function partCount(value: Json): number {
  if (Array.isArray(value)) return value.length;
  return isObject(value) ? Object.keys(value).length : 0;
}

const GLANCE = 80;

/** A glance at a folded part without opening it: its short values, in order. */
export function glanceAt(value: Json): string {
  if (!Array.isArray(value) && !isObject(value)) return '';
  const short = Object.values(value).filter(
    (part) =>
      isFlat(part) && part !== null && typeof part !== 'boolean' && !isProse(String(part)) && part !== '',
  );
  const text = short.join(' · ');
  return text.length > GLANCE ? `${text.slice(0, GLANCE - 1)}…` : text;
}
