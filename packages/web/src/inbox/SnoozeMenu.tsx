import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { overviewQuery } from '../api/questions.ts';
import type { Row } from '../api/types.ts';
import { Dialog } from '../frame/Dialog.tsx';
import { Key } from '../keys/Key.tsx';
import { useKeys } from '../keys/use-keys.ts';
import { serverNow } from '../live/clock.ts';
import { isAsleep } from '../words/delivery.ts';
import { capital, inWords } from '../words/numbers.ts';
import { snoozeTimes, soonest } from './snooze-times.ts';
import { snooze } from './triage.ts';

type Props = {
  rows: readonly Row[];
  onClose: () => void;
  /** Called when a time was chosen, with a promise of the rows that could not be snoozed. */
  onChosen?: (failed: Promise<Row[]>) => void;
};

/** Hides deliveries until a time; each comes back to its old place. */
export function SnoozeMenu({ rows, onClose, onChosen }: Props) {
  const { data } = useQuery(overviewQuery);
  const [own, setOwn] = useState('');
  const times = snoozeTimes(serverNow(), data?.next_sitting_at ?? null);
  const choose = (until: string | null) => {
    onClose();
    const failed = snooze(rows, until);
    onChosen?.(failed);
  };
  const isOne = rows.length === 1;
  const title = isOne ? 'Out of sight until…' : `${capital(inWords(rows.length))} out of sight until…`;
  return (
    <Dialog title={title} onClose={onClose} className="snooze">
      <ul className="choices">
        {rows.some((row) => isAsleep(row, serverNow())) && (
          <li>
            <button type="button" className="choice" onClick={() => choose(null)}>
              {isOne ? 'Bring it back now' : 'Bring them back now'}
            </button>
          </li>
        )}
        {times.map((time) => (
          <li key={time.at}>
            <button type="button" className="choice" onClick={() => choose(time.at)}>
              {time.label}
            </button>
          </li>
        ))}
      </ul>
      <form
        className="inline-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (own !== '') choose(new Date(own).toISOString());
        }}
      >
        <input
          className="input"
          type="datetime-local"
          aria-label="Another time"
          min={soonest(serverNow())}
          value={own}
          onChange={(event) => setOwn(event.target.value)}
        />
        <button type="submit" className="button" disabled={own === ''}>
          Until then
        </button>
      </form>
      {rows.some((row) => row.timeout_at !== null) && (
        <p className="said">
          {isOne
            ? 'The agent’s own deadline keeps running while it is out of sight.'
            : 'The agents’ own deadlines keep running while they are out of sight.'}
        </p>
      )}
    </Dialog>
  );
}

type ButtonProps = Pick<Props, 'rows' | 'onChosen'> & { className: string; hasKeys?: boolean };

/** The button that opens the menu, and its key. */
export function Snooze({ rows, onChosen, className, hasKeys = true }: ButtonProps) {
  const [isOpen, setOpen] = useState(false);
  const open = () => setOpen(true);
  useKeys(hasKeys ? { snooze: open } : {});
  return (
    <>
      <button type="button" className={className} onClick={open}>
        Snooze… {hasKeys && <Key of="snooze" />}
      </button>
      {isOpen && <SnoozeMenu rows={rows} onClose={() => setOpen(false)} {...(onChosen && { onChosen })} />}
    </>
  );
}
