import { Link } from '@tanstack/react-router';
import type { Detail, Row, ThreadPlace } from '../api/types.ts';
import { useNow } from '../live/now.ts';
import { stateWords, TYPE_WORDS } from '../words/delivery.ts';
import { threadWords } from '../words/thread.ts';
import { Text } from './Text.tsx';

/** One item of the strip: the place in the thread, with ways to the neighbours. */
export function ThreadItem({ row, place }: { row: Row; place: ThreadPlace | null }) {
  const before = place?.earlier.at(-1);
  const after = place?.later[0];
  return (
    <li>
      {place === null ? 'in thread' : threadWords(place)}{' '}
      <span className="mono">
        <Text>{row.thread_id ?? ''}</Text>
      </span>
      {before !== undefined && <To row={before}>the one before</To>}
      {after !== undefined && <To row={after}>the one after</To>}
    </li>
  );
}

function To({ row, children }: { row: Row; children: string }) {
  return (
    <>
      ,{' '}
      <Link to="/d/$id" params={{ id: row.delivery_id }} search={((old: object) => old) as never}>
        {children}
      </Link>
    </>
  );
}

/** The neighbours by their headlines, with what became of them. */
export function Thread({ detail, place }: { detail: Detail; place: ThreadPlace }) {
  const now = useNow();
  if (place.before + place.after === 0) return null;
  const rows = [...place.earlier, detail, ...place.later];
  return (
    <section className="thread" aria-label="Its thread">
      <h2>Its thread</h2>
      <ol>
        {rows.map((row) => (
          <li key={row.delivery_id} aria-current={row === detail ? 'true' : undefined}>
            {row === detail ? (
              <span className="agent">
                <Text>{row.headline}</Text>
              </span>
            ) : (
              <Link
                className="agent"
                to="/d/$id"
                params={{ id: row.delivery_id }}
                search={((old: object) => old) as never}
              >
                <Text>{row.headline}</Text>
              </Link>
            )}
            <span className="said">
              {row === detail ? 'This one' : [TYPE_WORDS[row.type], ...stateWords(row, now)].join(', ')}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}
