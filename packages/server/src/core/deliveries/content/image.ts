import type { Json } from '../../canonical.ts';
import { textsIn } from '../search/words.ts';

export const IMAGE_MOST = 5 * 1024 * 1024;

// What may stand right beside an address in a text: nothing, white space, quotes, brackets. Punctuation may follow
// only where it ends something; inside an address it is a part of it.
const BEFORE = /(?:^|[\s"'`<>()[\]{}|\\^,;])$/;
const AFTER = /^(?:$|[\s"'`<>()[\]{}|\\^]|[.,;:!?]+(?:$|[\s"'`<>()[\]{}]))/;

/** Whether a delivery contains exactly this address; inside a longer address it is a different one. */
export function namesAddress(content: Json, src: string): boolean {
  for (const text of textsIn(content)) if (standsIn(text, src)) return true;
  return false;
}

function standsIn(text: string, src: string): boolean {
  for (let at = text.indexOf(src); at >= 0; at = text.indexOf(src, at + 1)) {
    const before = text.slice(Math.max(0, at - 1), at);
    const after = text.slice(at + src.length, at + src.length + 4);
    if (BEFORE.test(before) && AFTER.test(after)) return true;
  }
  return false;
}

/** Something that may be fetched on a click: https at its usual port, and nothing in front of the host. */
export function isImageAddress(src: string): boolean {
  if (src.length > 2048 || !URL.canParse(src)) return false;
  const url = new URL(src);
  return url.protocol === 'https:' && url.port === '' && url.username === '' && url.password === '';
}

export type ImageType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp' | 'image/avif';

/** Judged by the bytes alone; the Content-Type of the sender is not trusted. */
export function imageTypeOf(bytes: Uint8Array): ImageType | null {
  const start = String.fromCharCode(...bytes.subarray(0, 16));
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (start.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (/^GIF8[79]a/.test(start)) return 'image/gif';
  if (/^RIFF[\s\S]{4}WEBP/.test(start)) return 'image/webp';
  return /^[\s\S]{4}ftypavi[fs]/.test(start) ? 'image/avif' : null;
}
