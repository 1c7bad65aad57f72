import { describe, expect, it } from 'vitest';
import { pieces } from './hidden-characters.ts';

const marked = (text: string) =>
  pieces(text)
    .filter((piece) => piece.hidden)
    .map((piece) => piece.text);

describe('hidden characters', () => {
  it('are named instead of obeyed', () => {
    expect(marked('a\u200bb')).toEqual(['U+200B']);
    expect(marked('invoice\u202egpj.exe')).toEqual(['U+202E']);
    expect(marked('\u2066x\u2069')).toEqual(['U+2066', 'U+2069']);
    expect(marked('tag\u{e0041}')).toEqual(['U+E0041']);
    expect(marked('soft\u00adhyphen, bell\u0007')).toEqual(['U+00AD', 'U+0007']);
  });

  it('leave the rest of the text as it is', () => {
    expect(pieces('a\u200bb')).toEqual([
      { text: 'a', hidden: false },
      { text: 'U+200B', hidden: true },
      { text: 'b', hidden: false },
    ]);
    expect(marked('Zeile\neins\tzwei, naïve Größe — 漢字 عربى')).toEqual([]);
  });

  it('do not take a joined emoji apart', () => {
    expect(marked('👩‍💻')).toEqual([]);
    expect(marked('a\u200db')).toEqual(['U+200D']);
  });
});
