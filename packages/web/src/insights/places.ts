import type { ListName } from '../api/types.ts';

export type Place = { to: '/' | '/history'; search: Record<string, string> };

/** The screen that shows the list behind a number. Only ever a place on this desk. */
export function toPlace(list: ListName | null | undefined, query: string | null | undefined): Place | null {
  if (list === null || list === undefined || query === null || query === undefined) return null;
  const search = Object.fromEntries(new URLSearchParams(query.replace(/^\?/, '')));
  return { to: list === 'history' ? '/history' : '/', search };
}

/** Before the first number, the number, and after it; nothing when there is none. */
export function splitAtNumber(text: string): [string, string, string] | [] {
  const found = /\d[\d\u202f.,]*\d|\d/.exec(text);
  if (found === null) return [];
  const end = found.index + found[0].length;
  return [text.slice(0, found.index), found[0], text.slice(end)];
}
