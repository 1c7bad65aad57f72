import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { overviewQuery } from '../api/questions.ts';
import type { Row } from '../api/types.ts';
import { Dialog } from '../frame/Dialog.tsx';
import { serverNow } from '../live/clock.ts';
import { snoozeTimes } from './snooze-times.ts';
import { snooze } from './triage.ts';

/** Out of sight until a time; it comes back to its old place. */
export function SnoozeMenu({
  row,
  onClose,
  onChosen,
}: {
  row: Row;
  onClose: () => void;
  onChosen?: () => void;
}) {
  const { data } = useQuery(overviewQuery);
  const [own, setOwn] = useState('');
  const times = snoozeTimes(serverNow(), data?.next_sitting_at ?? null);
  const choose = (until: string | null) => {
    onClose();
    onChosen?.();
    void snooze(row, until);
  };
  const isAsleep = row.snoozed_until !== null && Date.parse(row.snoozed_until) > serverNow();
  return (
    <Dialog title="Out of sight until…" onClose={onClose} className="snooze">
      <ul className="choices">
        {isAsleep && (
          <li>
            <button type="button" className="choice" onClick={() => choose(null)}>
              Bring it back now
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
          value={own}
          onChange={(event) => setOwn(event.target.value)}
        />
        <button type="submit" className="button" disabled={own === ''}>
          Until then
        </button>
      </form>
      {row.timeout_at !== null && (
        <p className="said">The agent’s own deadline keeps running while it is out of sight.</p>
      )}
    </Dialog>
  );
}
