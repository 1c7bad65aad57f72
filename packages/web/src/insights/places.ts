import type { ListName } from '../api/types.ts';

export type Place = { to: '/' | '/history'; search: Record<string, string> };

/** The screen that shows the list behind a number. Only ever a page of this desk. */
export function toPlace(list: ListName | null | undefined, query: string | null | undefined): Place | null {
  if (list === null || list === undefined || query === null || query === undefined) return null;
  const search = Object.fromEntries(new URLSearchParams(query.replace(/^\?/, '')));
  return { to: list === 'history' ? '/history' : '/', search };
}

/** The text before the first number, the number, and the text after it; empty when there is no number. */
export function splitAtNumber(text: string): [string, string, string] | [] {
  const found = /\d[\d\u202f.,]*\d|\d/.exec(text);
  if (found === null) return [];
  const end = found.index + found[0].length;
  return [text.slice(0, found.index), found[0], text.slice(end)];
}
