import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { calmly } from '../api/refused.ts';
import type { Row, Verdict } from '../api/types.ts';
import { Text } from '../detail/Text.tsx';
import { Dialog } from '../frame/Dialog.tsx';
import { useKeys } from '../keys/use-keys.ts';
import { VERDICT_WORDS } from '../words/delivery.ts';
import { inWords, plural } from '../words/numbers.ts';
import { type Included, type LeftOut, seen, sortBulk } from './bulk.ts';
import { lookAt, saidToAll, sendTogether } from './bulk-send.ts';

type Props = { verdict: Verdict; rows: Row[]; onClose: () => void };

/** Lists every headline before anything is sent, and says what is left out and why. */
export function BulkSheet({ verdict, rows, onClose }: Props) {
  const { data, error, refetch } = useQuery({
    queryKey: ['bulk', ...rows.map((row) => row.delivery_id)],
    queryFn: () => Promise.all(rows.map(lookAt)),
    staleTime: 0,
    gcTime: 0,
  });
  const title = verdict === 'approved' ? 'Approve together' : 'Reject together';
  return (
    <Dialog title={title} onClose={onClose} className="sheet">
      {error !== null && data === undefined && (
        <>
          <p className="said bad" role="alert">
            These could not be looked at, so nothing was sent. {calmly(error)}
          </p>
          <div className="actions">
            <button type="button" className="button" onClick={onClose}>
              Back
            </button>
            <button type="button" className="button strong" onClick={() => void refetch()}>
              Try again
            </button>
          </div>
        </>
      )}
      {data === undefined && error === null && <p className="said">Looking at each of them once more…</p>}
      {data !== undefined && <Sorted verdict={verdict} onClose={onClose} {...sortBulk(data, seen.read())} />}
    </Dialog>
  );
}

/**
 * The sheet opens before its content has loaded, so the field takes the focus when it appears, as with a single
 * delivery.
 */
const takeFocus = (field: HTMLElement | null) => field?.focus({ preventScroll: true });

type SortedProps = { verdict: Verdict; included: Included[]; leftOut: LeftOut[]; onClose: () => void };

function Sorted({ verdict, included, leftOut, onClose }: SortedProps) {
  const [feedback, setFeedback] = useState(() => saidToAll.get(verdict));
  // As for a single delivery: an agent whose work is rejected must learn why.
  const lacks = verdict === 'rejected' && feedback.trim() === '';
  const send = () => {
    if (included.length === 0 || lacks) return;
    onClose();
    void sendTogether(included, verdict, feedback);
  };
  const say = (words: string) => {
    setFeedback(words);
    saidToAll.keep(verdict, words);
  };
  useKeys({ send });
  if (included.length === 0) return <NoneOfThem verdict={verdict} leftOut={leftOut} onClose={onClose} />;
  return (
    <>
      <ul className="sheet-list">
        {included.map(({ row }) => (
          <Named key={row.delivery_id} row={row} said={row.agent_id} type={row.type} />
        ))}
      </ul>
      {leftOut.length > 0 && <NotIncluded leftOut={leftOut} />}
      <Words verdict={verdict} feedback={feedback} onWords={say} />
      {lacks && <p className="said">Say why not, so that the agents can learn from it.</p>}
      <div className="actions">
        <button type="button" className="button" onClick={onClose}>
          Back
        </button>
        <button type="button" className="button strong" disabled={lacks} onClick={send}>
          {sendLabel(verdict, included.length)}
        </button>
      </div>
    </>
  );
}

/** There is only the way back, so it has the focus. */
function NoneOfThem({ verdict, leftOut, onClose }: Pick<SortedProps, 'verdict' | 'leftOut' | 'onClose'>) {
  return (
    <>
      <p>None of them can be {VERDICT_WORDS[verdict].toLowerCase()} together. Each says why.</p>
      <NotIncluded leftOut={leftOut} />
      <div className="actions">
        <button type="button" className="button" ref={takeFocus} onClick={onClose}>
          Back
        </button>
      </div>
    </>
  );
}

function sendLabel(verdict: Verdict, count: number): string {
  const verb = verdict === 'approved' ? 'Approve' : 'Reject';
  return `${verb} ${count === 1 ? inWords(1) : plural(count, 'delivery', 'deliveries')}`;
}

/** One delivery, by its headline; one that is left out does not get the colour of its type. */
function Named({ row, said, type }: { row: Row; said: string; type?: Row['type'] }) {
  return (
    <li data-type={type}>
      <span className="agent">
        <Text>{row.headline}</Text>
      </span>
      <span className="said">{said}</span>
    </li>
  );
}

function NotIncluded({ leftOut }: { leftOut: LeftOut[] }) {
  return (
    <section aria-label="Not included" className="sheet-out">
      <h3 className="said">Not included</h3>
      <ul className="sheet-list dim">
        {leftOut.map(({ row, reason }) => (
          <Named key={row.delivery_id} row={row} said={reason} />
        ))}
      </ul>
    </section>
  );
}

type WordsProps = { verdict: Verdict; feedback: string; onWords: (words: string) => void };

function Words({ verdict, feedback, onWords }: WordsProps) {
  return (
    <div className="field">
      <label htmlFor="bulk-feedback">
        {verdict === 'approved'
          ? 'Anything for next time? Every agent receives it.'
          : 'Why not? Every agent receives it.'}
      </label>
      <textarea
        id="bulk-feedback"
        ref={takeFocus}
        className="input"
        value={feedback}
        onChange={(event) => onWords(event.target.value)}
      />
    </div>
  );
}
