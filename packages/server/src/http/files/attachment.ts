/**
 * Characters that could lead out of a folder, hide a file's extension, or have a meaning on the system where it is
 * saved.
 */
const UNFIT = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\\/:*?"<>|]/gu;
/** About half of what systems allow: a second copy gets a number appended. */
const LONGEST = 120;

/** `Content-Disposition` for somebody's file: always saved, under a harmless form of the name that they gave it. */
export function attachment(name: string): string {
  const plain = name.replace(UNFIT, '_').replace(/^\.+/, '_');
  // Keeps the end of a long name: the extension says what the file is.
  const short = [...plain].slice(-LONGEST).join('');
  return `attachment; filename*=UTF-8''${encoded(short === '' ? 'content' : short)}`;
}

/** RFC 8187: an apostrophe would end the language, and brackets are not allowed either. */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /['()]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
