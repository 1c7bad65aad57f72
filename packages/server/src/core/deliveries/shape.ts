import { isJsonObject, type Json } from '../canonical.ts';
import type { Content } from './delivery.ts';
import { detailsOf } from './delivery.ts';

/** What a row says about a content that stays sealed: noted once, when it comes in. */
export type Shape = { parts: number; irreversible: boolean };

export function shapeOf(content: Content): Shape {
  const details = detailsOf(content);
  return { parts: partsOf(details), irreversible: [content, details].some(saysIrreversible) };
}

/** How many things lie side by side; a text is one, and one is not worth a word. */
function partsOf(details: Json): number {
  if (!isJsonObject(details)) return 0;
  return Array.isArray(details.blocks) ? details.blocks.length : Object.keys(details).length;
}

function saysIrreversible(place: Json): boolean {
  return isJsonObject(place) && (place.reversible === false || place.irreversible === true);
}
