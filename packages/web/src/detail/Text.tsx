import { Each } from '../frame/Each.tsx';
import { pieces } from '../words/hidden-characters.ts';

/**
 * Somebody else's words as plain text, with hidden characters made visible. Their text direction does not affect what
 * is around.
 */
export function Text({ children }: { children: string }) {
  const parts = pieces(children);
  return (
    <bdi>
      <Each of={parts}>
        {(piece) =>
          piece.hidden ? (
            <span className="revealed" title="A character that would not be seen">
              {piece.text}
            </span>
          ) : (
            piece.text
          )
        }
      </Each>
    </bdi>
  );
}
