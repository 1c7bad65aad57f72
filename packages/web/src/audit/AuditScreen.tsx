import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { desk } from '../api/desk.ts';
import { asking } from '../api/questions.ts';
import { calmly } from '../api/refused.ts';
import type { LedgerEntry, Verified } from '../api/types.ts';
import { Text } from '../detail/Text.tsx';
import { PageList, usePages } from '../frame/Pages.tsx';
import { Screen } from '../frame/Screen.tsx';
import { useAlone } from '../frame/use-alone.ts';
import { useNow } from '../live/now.ts';
import { figure, grouped } from '../words/numbers.ts';
import { clock, day, timeAndDay } from '../words/time.ts';
import './audit.css';

type Filter = { action?: string; subject?: string };

/** The ledger: dense, and exact. */
export function AuditScreen() {
  const filter = useSearch({ strict: false }) as Filter;
  const ledger = usePages({
    key: ['audit', filter],
    ask: (cursor) => desk.audit({ ...filter, cursor }),
    items: (page) => page.entries,
  });
  const lookedTo = ledger.pages.at(-1)?.looked_to ?? 1;
  return (
    <Screen title="Audit" lead="Every change is one line. Each line’s hash covers the line before it." isWide>
      <Verification last={ledger.pages[0]?.verified} />
      <FilterForm filter={filter} />
      <PageList
        pages={ledger}
        empty="No line matches, back to the first one."
        looking={`No line matches so far. Looked back to line ${grouped(lookedTo)}…`}
        more={ledger.all.length === 0 ? `Look beyond line ${grouped(lookedTo)}` : 'Older lines'}
      >
        <Ledger entries={ledger.all} names={Object.assign({}, ...ledger.pages.map((page) => page.people))} />
      </PageList>
    </Screen>
  );
}

/** Verifying a long chain takes a while, so it happens only on request; the last result is shown to everybody. */
function Verification({ last }: { last: Verified | null | undefined }) {
  const [trouble, setTrouble] = useState('');
  const { busy, alone } = useAlone(() => setTrouble(''));
  const now = useNow();
  const verify = async () => {
    try {
      await desk.verify();
      await asking.invalidateQueries({ queryKey: ['audit'] });
      setTrouble('');
    } catch (error) {
      setTrouble(calmly(error));
    }
  };
  const said = last === undefined ? '' : verifiedWords(last, now);
  return (
    <div className="form-line">
      <button type="button" className="button" aria-disabled={busy} onClick={() => void alone(verify)}>
        {busy ? 'Following the chain…' : 'Verify now'}
      </button>
      <a className="button" href="/desk/audit/export?format=ndjson" download>
        Export NDJSON
      </a>
      <a className="button" href="/desk/audit/export?format=csv" download>
        Export CSV
      </a>
      <p className="said" role="status">
        {trouble === '' ? said : trouble}
      </p>
    </div>
  );
}

function verifiedWords(last: Verified | null, now: number): string {
  if (last === null) return 'The chain has not been verified since the server started.';
  const when =
    day(last.verified_at, now) === 'today' ? clock(last.verified_at) : timeAndDay(last.verified_at, now);
  if (last.ok) return `Chain verified at ${when}, ${figure(last.entries, 'entry', 'entries')}.`;
  const what = last.problems[0]?.problem ?? 'see lanternroom audit verify';
  return `At ${when} the chain did not hold: ${what}. Tell whoever runs this server.`;
}

function FilterForm({ filter }: { filter: Filter }) {
  const navigate = useNavigate();
  const submit = (event: React.FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const values = Object.fromEntries([...form].filter(([, value]) => value !== ''));
    void navigate({ to: '/audit', search: values as never });
  };
  return (
    <form className="form-line" onSubmit={submit} key={JSON.stringify(filter)}>
      <div className="field">
        <label htmlFor="audit-action">Action</label>
        <input
          id="audit-action"
          name="action"
          className="input mono"
          placeholder="decision.held"
          defaultValue={filter.action ?? ''}
        />
      </div>
      <div className="field">
        <label htmlFor="audit-subject">Subject</label>
        <input
          id="audit-subject"
          name="subject"
          className="input mono ledger-subject"
          placeholder="a delivery, agent or person"
          defaultValue={filter.subject ?? ''}
        />
      </div>
      <button type="submit" className="button">
        Filter
      </button>
    </form>
  );
}

type LedgerProps = { entries: readonly LedgerEntry[]; names: Readonly<Record<string, string>> };

/**
 * A dense table; where it would not fit, each row becomes a few lines of text, so that nothing is cut off at the
 * edge.
 */
function Ledger({ entries, names }: LedgerProps) {
  return (
    <table className="ledger" aria-label="Ledger">
      <thead>
        <tr>
          <th scope="col">Line</th>
          <th scope="col">Time, UTC</th>
          <th scope="col">Who</th>
          <th scope="col">Action</th>
          <th scope="col">Subject</th>
          <th scope="col">Data and hash</th>
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) => (
          <tr key={entry.seq}>
            <td className="number">{grouped(entry.seq)}</td>
            <td className="ledger-time">{entry.at.slice(0, 19).replace('T', ' ')}</td>
            <td title={entry.actor}>
              <Text>{names[entry.actor] ?? entry.actor}</Text>
            </td>
            <td className="ledger-action">
              <Text>{entry.action}</Text>
            </td>
            <td>
              <Text>{entry.subject}</Text>
            </td>
            <td className="ledger-data">
              <Data entry={entry} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Closed, the names of the fields; opened, all of the data and the whole hash. */
function Data({ entry: { data, hash } }: { entry: LedgerEntry }) {
  const names = Object.keys(data).join(', ');
  return (
    <details>
      <summary>{names === '' ? hash.slice(0, 10) : names}</summary>
      {names !== '' && (
        <p>
          <Text>{JSON.stringify(data, null, 1)}</Text>
        </p>
      )}
      <p>hash {hash}</p>
    </details>
  );
}
