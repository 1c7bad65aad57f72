import { Link } from '@tanstack/react-router';
import { memo } from 'react';
import type { Row } from '../api/types.ts';
import { Text } from '../detail/Text.tsx';
import { rowWords, TYPE_WORDS } from '../words/delivery.ts';
import { age } from '../words/time.ts';
import { list } from './list-store.ts';

type Props = {
  row: Row;
  now: number;
  isCursor: boolean;
  /** Whether this is the row that Tab reaches. */
  isStop: boolean;
  isOpen: boolean;
  isChecked: boolean;
  isDimmed: boolean;
  onCheck: (id: string) => void;
};

/** One delivery: a spine in the colour of its type, the agent's headline, and only the words that apply. */
export const DeliveryRow = memo(function DeliveryRow(props: Props) {
  const { row, now, isCursor, isStop, isOpen, isChecked, isDimmed, onCheck } = props;
  const id = row.delivery_id;
  const words = rowWords(row, now);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: with keys one comes to the link inside, which sets the cursor itself.
    <article
      className="row"
      data-type={row.type}
      data-cursor={isCursor || undefined}
      data-open={isOpen || undefined}
      data-dim={isDimmed || row.state !== 'pending' || undefined}
      // Somebody who comes here by Tab means this row, even if j was never pressed. A press means it only when it is
      // over: the list scrolls to the row at the cursor, and would carry this one away from under the pointer.
      onFocus={(event) => event.target.matches(':focus-visible') && list.setCursor(id)}
      onClick={() => list.setCursor(id)}
    >
      <label className="row-check">
        <input type="checkbox" checked={isChecked} tabIndex={isStop ? 0 : -1} onChange={() => onCheck(id)} />
        <span className="unseen">Check “{row.headline}”</span>
      </label>
      <Link
        id={`row-${id}`}
        className="row-link"
        to="/d/$id"
        params={{ id }}
        search={(old) => old}
        tabIndex={isStop ? 0 : -1}
        aria-current={isOpen ? 'true' : undefined}
        // It is already open: a second Enter moves the focus to it.
        onClick={isOpen ? () => document.getElementById('detail')?.focus() : undefined}
      >
        <span className="row-top">
          <span className="row-headline">
            <Text>{row.headline}</Text>
          </span>
          <time className="row-age" dateTime={row.created_at}>
            {age(row.created_at, now)}
          </time>
        </span>
        <span className="row-summary">
          <span className="row-agent">
            <Text>{row.agent_id}</Text>
          </span>{' '}
          {row.summary !== row.headline && (
            <>
              ·{' '}
              <span className="agent">
                <Text>{row.summary}</Text>
              </span>
            </>
          )}
        </span>
        <span className="row-words dotted">
          <span className="row-type">{TYPE_WORDS[row.type]}</span>
          {words.map((word) => (
            <span key={word}>{word}</span>
          ))}
        </span>
      </Link>
    </article>
  );
});
