/** What would lead out of a folder, hide how a name ends, or mean something to a system that it is saved on. */
const UNFIT = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\\/:*?"<>|]/gu;
/** Of what systems allow about half: whoever saves it twice gets a number besides. */
const LONGEST = 120;

/** `Content-Disposition` for somebody's file: always saved, under a harmless form of the name that they gave it. */
export function attachment(name: string): string {
  const plain = name.replace(UNFIT, '_').replace(/^\.+/, '_');
  // The end of a name says what it is.
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
