import type { Json, Previous } from '../api/types.ts';
import { Changes } from '../composer/Changes.tsx';
import { Each } from '../frame/Each.tsx';
import { notesOf } from './notes.ts';
import { Text } from './Text.tsx';

/** A revision: the person's notes as a checklist, then what has changed since the version they saw. */
export function Revision({ previous, details }: { previous: Previous; details: Json }) {
  const notes = notesOf(previous.decision?.feedback ?? null);
  const asked = previous.decision?.edited_content ?? previous.details;
  return (
    <section className="revision" aria-label="What changed since you looked">
      {notes.length > 0 && (
        <>
          <h2>You asked for</h2>
          <ul className="notes">
            <Each of={notes}>
              {(note) => (
                <li>
                  <label>
                    <input type="checkbox" />{' '}
                    <span>
                      <Text>{note}</Text>
                    </span>
                  </label>
                </li>
              )}
            </Each>
          </ul>
        </>
      )}
      <h2>{previous.decision?.edited_content ? 'Changed since your edit' : 'Changed since you looked'}</h2>
      <Changes before={asked} after={details} empty="Nothing: the details are the same, word for word." />
    </section>
  );
}
