import { isJsonObject, type Json } from '../../canonical.ts';
import type { Content } from '../delivery.ts';
import { detailsOf } from '../delivery.ts';

/** What a list row shows of content that stays sealed; computed once, on arrival. */
export type Shape = { parts: number; irreversible: boolean };

export function shapeOf(content: Content): Shape {
  const details = detailsOf(content);
  return { parts: partsOf(details), irreversible: [content, details].some(saysIrreversible) };
}

/** How many things the details list side by side; 0 for a text. */
function partsOf(details: Json): number {
  if (!isJsonObject(details)) return 0;
  return Array.isArray(details.blocks) ? details.blocks.length : Object.keys(details).length;
}

function saysIrreversible(place: Json): boolean {
  return isJsonObject(place) && (place.reversible === false || place.irreversible === true);
}
