import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { settingsQuery } from '../api/questions.ts';
import type { Preferences, Sitting } from '../api/types.ts';
import { Field } from '../entry/Field.tsx';
import { Each } from '../frame/Each.tsx';
import { Said } from '../frame/Said.tsx';
import { span } from '../words/time.ts';
import { Digest } from './Digest.tsx';
import { byTime, daysWords, digestWords, SHORT_DAYS, withSitting } from './sitting-words.ts';
import { usePreferences } from './use-preferences.ts';

export function Sittings() {
  // One for each form, so that the outcome of a change is shown beside it.
  const sittings = usePreferences();
  const quiet = usePreferences();
  const zone = usePreferences();
  const digest = usePreferences();
  const { data } = useQuery(settingsQuery);
  const { preferences, said } = sittings;
  if (preferences === undefined) return <p className="said">{said === '' ? 'One moment…' : said}</p>;
  const { time_zone, quiet: hours, digest: news } = { ...preferences, ...zone.preferences };
  return (
    <>
      <p>
        Sittings are the times you mean to come. Nothing is sent to remind you, unless you turn the digest on.
      </p>
      <SittingList
        sittings={preferences.sittings}
        said={said}
        onChange={(wanted) => void sittings.change({ sittings: wanted })}
      />
      <Quiet quiet={hours} said={quiet.said} onChange={(wanted) => void quiet.keep({ quiet: wanted })} />
      <ZoneField
        zone={time_zone}
        said={zone.said}
        onChange={(wanted) => void zone.change({ time_zone: wanted })}
      />
      <Digest
        digest={news}
        words={digestWords({ sittings: preferences.sittings, quiet: hours, digest: news })}
        hasMail={data?.mail === true}
        said={digest.said}
        onChange={(wanted) => digest.keep({ digest: wanted })}
      />
      <section className="part" aria-label="Undo window">
        <h2>Undo window</h2>
        <p className="said">
          {data === undefined
            ? ''
            : data.undo_seconds === 0
              ? 'Decisions go out at once on this server.'
              : `A decision can be taken back for ${span(data.undo_seconds)}. Whoever runs the server sets this, with LANTERNROOM_UNDO_SECONDS.`}
        </p>
      </section>
    </>
  );
}

function SittingList({
  sittings,
  said,
  onChange,
}: {
  sittings: Sitting[];
  said: string;
  onChange: (sittings: Sitting[]) => void;
}) {
  const [at, setAt] = useState('09:00');
  const [days, setDays] = useState([1, 2, 3, 4, 5]);
  const [lacksDays, setLacks] = useState(false);
  return (
    <section className="part" aria-label="Sittings">
      <h2>Sittings</h2>
      {sittings.length === 0 && <p className="said">None are set.</p>}
      <ul className="lines">
        <Each of={byTime(sittings)}>
          {(sitting) => (
            <li>
              <b>{sitting.at}</b> <span className="said">{daysWords(sitting.days)}</span>
              <button
                type="button"
                className="plain"
                onClick={() => onChange(sittings.filter((other) => other !== sitting))}
              >
                Remove
              </button>
            </li>
          )}
        </Each>
      </ul>
      <form
        className="form-line"
        onSubmit={(event) => {
          event.preventDefault();
          setLacks(days.length === 0);
          if (days.length > 0) onChange(withSitting(sittings, { at, days }));
        }}
      >
        <fieldset className="days">
          <legend className="unseen">Days</legend>
          {SHORT_DAYS.map((name, index) => (
            <label key={name}>
              <input
                type="checkbox"
                checked={days.includes(index + 1)}
                onChange={() =>
                  setDays(
                    days.includes(index + 1)
                      ? days.filter((day) => day !== index + 1)
                      : [...days, index + 1].sort(),
                  )
                }
              />{' '}
              {name}
            </label>
          ))}
        </fieldset>
        <Field label="At" type="time" value={at} onText={setAt} required />
        <button type="submit" className="button">
          Add a sitting
        </button>
      </form>
      <Said>{lacksDays ? 'Choose at least one day for it.' : said}</Said>
    </section>
  );
}

function Quiet({
  quiet,
  said,
  onChange,
}: {
  quiet: Preferences['quiet'];
  said: string;
  onChange: (quiet: Preferences['quiet']) => void;
}) {
  const [from, setFrom] = useState(quiet?.from ?? '22:00');
  const [to, setTo] = useState(quiet?.to ?? '07:00');
  return (
    <section className="part" aria-label="Quiet hours">
      <h2>Quiet hours</h2>
      <p className="said">
        {quiet === null ? 'None are set.' : `Nothing is sent to you between ${quiet.from} and ${quiet.to}.`}
      </p>
      <form
        className="form-line"
        onSubmit={(event) => {
          event.preventDefault();
          onChange({ from, to });
        }}
      >
        <Field label="From" type="time" value={from} onText={setFrom} required />
        <Field label="To" type="time" value={to} onText={setTo} required />
        <button type="submit" className="button">
          Keep these
        </button>
        {quiet !== null && (
          <button type="button" className="plain" onClick={() => onChange(null)}>
            No quiet hours
          </button>
        )}
      </form>
      <Said>{said}</Said>
    </section>
  );
}

function ZoneField({
  zone,
  said,
  onChange,
}: {
  zone: string;
  said: string;
  onChange: (zone: string) => void;
}) {
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const all = Intl.supportedValuesOf('timeZone');
  const zones = [...new Set([zone, here, 'UTC', ...all])];
  return (
    <section className="part" aria-label="Time zone">
      <h2>Time zone</h2>
      <div className="form-line">
        <div className="field">
          <label htmlFor="zone">Sittings and quiet hours follow the clock of</label>
          <select id="zone" className="input" value={zone} onChange={(event) => onChange(event.target.value)}>
            {zones.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </div>
        {zone !== here && (
          <button type="button" className="button" onClick={() => onChange(here)}>
            Use {here}, where this browser is
          </button>
        )}
      </div>
      <Said>{said}</Said>
    </section>
  );
}
