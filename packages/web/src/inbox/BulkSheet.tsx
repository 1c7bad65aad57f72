import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { calmly } from '../api/refused.ts';
import type { Row, Verdict } from '../api/types.ts';
import { Text } from '../detail/Text.tsx';
import { Dialog } from '../frame/Dialog.tsx';
import { useKeys } from '../keys/use-keys.ts';
import { inWords, plural } from '../words/numbers.ts';
import { type Included, type LeftOut, seen, sortBulk } from './bulk.ts';
import { lookAt, saidToAll, sendTogether } from './bulk-send.ts';

type Props = { verdict: Verdict; rows: Row[]; onClose: () => void };

/** Every headline is named before anything is sent, and what will not be included is said with its reason. */
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

/** The sheet was opened while there was nothing in it yet; one begins where one would with a single delivery. */
const takeFocus = (field: HTMLTextAreaElement | null) => field?.focus({ preventScroll: true });

function Sorted({
  verdict,
  included,
  leftOut,
  onClose,
}: {
  verdict: Verdict;
  included: Included[];
  leftOut: LeftOut[];
  onClose: () => void;
}) {
  const [feedback, setFeedback] = useState(() => saidToAll.get(verdict));
  // As for one alone: an agent that is turned away must learn why.
  const lacks = verdict === 'rejected' && feedback.trim() === '';
  const send = () => {
    if (included.length === 0 || lacks) return;
    onClose();
    void sendTogether(included, verdict);
  };
  useKeys({ send });
  return (
    <>
      <ul className="sheet-list">
        {included.map(({ row }) => (
          <li key={row.delivery_id} data-type={row.type}>
            <span className="agent">
              <Text>{row.headline}</Text>
            </span>
            <span className="said">{row.agent_id}</span>
          </li>
        ))}
      </ul>
      {leftOut.length > 0 && (
        <section aria-label="Not included">
          <h3 className="said">Not included</h3>
          <ul className="sheet-list dim">
            {leftOut.map(({ row, reason }) => (
              <li key={row.delivery_id}>
                <span className="agent">
                  <Text>{row.headline}</Text>
                </span>
                <span className="said">{reason}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
      {included.length > 0 && (
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
            onChange={(event) => {
              setFeedback(event.target.value);
              saidToAll.keep(verdict, event.target.value);
            }}
          />
        </div>
      )}
      {included.length > 0 && lacks && (
        <p className="said">Say why not, so that the agents can learn from it.</p>
      )}
      <div className="actions">
        <button type="button" className="button" onClick={onClose}>
          Back
        </button>
        <button
          type="button"
          className="button strong"
          disabled={included.length === 0 || lacks}
          onClick={send}
        >
          {included.length === 0
            ? 'Nothing to send'
            : `${verdict === 'approved' ? 'Approve' : 'Reject'} ${included.length === 1 ? inWords(1) : plural(included.length, 'delivery', 'deliveries')}`}
        </button>
      </div>
    </>
  );
}
