import { useState } from 'react';
import type { Row, Verdict } from '../api/types.ts';
import { useMayDecide } from '../api/use-may-decide.ts';
import { foot } from '../composer/held.ts';
import { Key } from '../keys/Key.tsx';
import type { Action } from '../keys/key-map.ts';
import { useKeys } from '../keys/use-keys.ts';
import { capital, inWords } from '../words/numbers.ts';
import { BulkSheet } from './BulkSheet.tsx';
import { checkAgain } from './bulk-send.ts';
import { list } from './list-store.ts';
import { Snooze } from './SnoozeMenu.tsx';
import { acknowledge } from './triage.ts';
import { useList } from './use-list.ts';

/** The keys act on the checked deliveries only while none is open; otherwise they belong to the open one. */
export function BulkBar({ hasKeys }: { hasKeys: boolean }) {
  return useList().checked.size === 0 ? null : <Checked hasKeys={hasKeys} />;
}

/** A key that cannot be about all that is checked says so: it must not act on the one at the cursor instead. */
const NOT_TOGETHER = {
  redirect: () => foot.say('A redirect is for one delivery. Open it, and say what should be different.'),
  // The button answers to it whenever something can be snoozed.
  snooze: () => foot.say('None of what is checked is waiting, so there is nothing to snooze.'),
};

function Checked({ hasKeys }: { hasKeys: boolean }) {
  const { checked, rows } = useList();
  const [verdict, setVerdict] = useState<Verdict | null>(null);
  const mayDecide = useMayDecide();
  const chosen = [...checked].flatMap((id) => rows[id] ?? []);
  const readAll = async () => {
    list.dispatch({ kind: 'uncheck' });
    await Promise.all(chosen.map(acknowledge));
  };
  const waiting = chosen.filter((row) => row.state === 'pending');
  const checkWhatFailed = async (failed: Promise<Row[]>) => {
    list.dispatch({ kind: 'uncheck' });
    for (const { delivery_id } of await failed) checkAgain(delivery_id);
  };
  const approve = () => setVerdict('approved');
  const reject = () => setVerdict('rejected');
  const read = () => void readAll();
  useKeys(mayDecide && hasKeys ? { approve, reject, acknowledge: read, ...NOT_TOGETHER } : {});
  const key = (action: Action) => hasKeys && <Key of={action} />;
  return (
    <section className="bulk" aria-label="With everything checked">
      <p role="status">{capital(inWords(checked.size))} checked.</p>
      {mayDecide && !hasKeys && (
        <p className="said">The keys are for the delivery that is open; these buttons for what is checked.</p>
      )}
      {!mayDecide && <p className="said">You can read here. Deciding needs the role decider.</p>}
      <div className="bulk-actions">
        {mayDecide && (
          <>
            <button type="button" className="button" onClick={approve}>
              Approve… {key('approve')}
            </button>
            <button type="button" className="button" onClick={reject}>
              Reject… {key('reject')}
            </button>
            <button type="button" className="button" onClick={read}>
              Mark as read {key('acknowledge')}
            </button>
            {waiting.length > 0 && (
              <Snooze rows={waiting} className="button" hasKeys={hasKeys} onChosen={checkWhatFailed} />
            )}
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
