import { pieces } from '../words/hidden-characters.ts';

/** Somebody else's words as plain text, with what hides in them made visible. Its direction cannot leak out. */
export function Text({ children }: { children: string }) {
  const parts = pieces(children);
  return (
    <bdi>
      {parts.map((piece, index) =>
        piece.hidden ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of one text never move
          <span key={index} className="revealed" title="A character that would not be seen">
            {piece.text}
          </span>
        ) : (
          piece.text
        ),
      )}
    </bdi>
  );
}
