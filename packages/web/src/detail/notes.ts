/**
 * Splits a person's feedback into single notes: list items, or paragraphs. A quotation stays with the note after it.
 */
export function notesOf(feedback: string | null): string[] {
  if (feedback === null) return [];
  return feedback
    .split(/\n\s*\n/)
    .flatMap((paragraph) => {
      const lines = paragraph.split('\n');
      const isList = lines.every((line) => /^\s*([-*•]|\d+[.)])\s+/.test(line) || line.trim() === '');
      return isList ? lines.map((line) => line.replace(/^\s*([-*•]|\d+[.)])\s+/, '')) : [paragraph];
    })
    .map((note) => note.trim())
    .filter((note) => note !== '');
}
