import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { desk } from '../api/desk.ts';
import type { Chart, Sentence } from '../api/types.ts';
import { Screen } from '../frame/Screen.tsx';
import { NotHad } from '../frame/Trouble.tsx';
import { useNow } from '../live/now.ts';
import { BarChart } from './BarChart.tsx';
import { splitAtNumber, toPlace } from './places.ts';
import { ToPlace } from './ToPlace.tsx';
import { neighbourWeek } from './weeks.ts';
import './insights.css';

const MOST = 5;

/** A weekly letter in plain words, and at most five small charts. No leaderboards. */
export function InsightsScreen() {
  const { week } = useSearch({ strict: false }) as { week?: string };
  const now = useNow();
  const { data, error, refetch } = useQuery({
    queryKey: ['insights', week ?? ''],
    queryFn: () => desk.insights(week),
  });
  if (error !== null && data === undefined)
    return (
      <Screen title="Insights">
        <NotHad
          of={error}
          missing="The first letter is written when there is a week to write about."
          onAgain={refetch}
        />
      </Screen>
    );
  if (data === undefined)
    return (
      <Screen title="Insights">
        <p className="said">One moment…</p>
      </Screen>
    );
  return (
    <Screen
      title={weekTitle(data.week)}
      lead={`${date(data.from, data.time_zone)} to ${date(data.to, data.time_zone, -1)}`}
    >
      <div className="letter">
        {data.letter.map((sentence) => (
          <LetterLine key={sentence.text} sentence={sentence} />
        ))}
      </div>
      {data.charts.some(hasBars) && (
        <div className="charts">
          {data.charts.slice(0, MOST).map((chart) => (
            <BarChart key={chart.name} chart={chart} />
          ))}
        </div>
      )}
      <nav className="form-line" aria-label="Weeks">
        <Link to="/insights" search={{ week: neighbourWeek(data.week, -1) } as never} className="reach">
          The week before
        </Link>
        {Date.parse(data.to) <= now && (
          <Link to="/insights" search={{ week: neighbourWeek(data.week, 1) } as never} className="reach">
            The week after
          </Link>
        )}
      </nav>
    </Screen>
  );
}

/** Whether there is anything to draw: five empty charts say less than the one sentence above them. */
const hasBars = (chart: Chart) => chart.points.some(({ value }) => value !== null && value !== 0);

/** Every number links to what it counts: the first number in the sentence, or the whole sentence when it has none. */
function LetterLine({ sentence: { text, list, query } }: { sentence: Sentence }) {
  const place = toPlace(list, query);
  if (place === null) return <span>{text} </span>;
  const [before = '', number = text, after = ''] = splitAtNumber(text);
  return (
    <span>
      {before}
      <ToPlace place={place}>{number}</ToPlace>
      {after}{' '}
    </span>
  );
}

/** Weeks begin in the person's own time zone, which may differ from this browser's. */
function date(iso: string, timeZone: string, shiftMs = 0): string {
  const format = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', timeZone });
  return format.format(new Date(Date.parse(iso) + shiftMs));
}

function weekTitle(week: string): string {
  const [year, number] = week.split('-W');
  return `Week ${Number(number)} of ${year}`;
}
