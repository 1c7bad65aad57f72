import { useState } from 'react';
import type { Verdict } from '../api/types.ts';
import { useMayDecide } from '../api/use-may-decide.ts';
import { capital, inWords } from '../words/numbers.ts';
import { BulkSheet } from './BulkSheet.tsx';
import { list } from './list-store.ts';
import { acknowledge } from './triage.ts';
import { useList } from './use-list.ts';

export function BulkBar() {
  const { checked, rows } = useList();
  const [verdict, setVerdict] = useState<Verdict | null>(null);
  const mayDecide = useMayDecide();
  if (checked.size === 0) return null;
  const chosen = [...checked].flatMap((id) => rows[id] ?? []);
  const readAll = async () => {
    list.dispatch({ kind: 'uncheck' });
    await Promise.all(chosen.map(acknowledge));
  };
  return (
    <section className="bulk" aria-label="With everything checked">
      <p role="status">{capital(inWords(checked.size))} checked.</p>
      {!mayDecide && <p className="said">You can read here. Deciding needs the role decider.</p>}
      <div className="bulk-actions">
        {mayDecide && (
          <>
            <button type="button" className="button" onClick={() => setVerdict('approved')}>
              Approve…
            </button>
            <button type="button" className="button" onClick={() => setVerdict('rejected')}>
              Reject…
            </button>
            <button type="button" className="button" onClick={() => void readAll()}>
              Mark as read
            </button>
          </>
        )}
        <button type="button" className="plain" onClick={() => list.dispatch({ kind: 'uncheck' })}>
          Clear
        </button>
      </div>
      {verdict !== null && <BulkSheet verdict={verdict} rows={chosen} onClose={() => setVerdict(null)} />}
    </section>
  );
}
