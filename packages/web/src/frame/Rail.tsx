import { useQuery } from '@tanstack/react-query';
import { Link, useLocation } from '@tanstack/react-router';
import { overviewQuery, preferencesQuery } from '../api/questions.ts';
import { useNow } from '../live/now.ts';
import { isQuiet } from '../words/quiet.ts';
import { moment } from '../words/time.ts';
import { Icon, type IconName } from './Icon.tsx';
import { Mark } from './Mark.tsx';

/** `holds` matches the screens that are reached from this one and have no entry of their own. */
const PLACES: { to: string; word: string; icon: IconName; holds?: RegExp }[] = [
  { to: '/', word: 'Inbox', icon: 'inbox' },
  { to: '/sit', word: 'Sit', icon: 'sit' },
  { to: '/history', word: 'History', icon: 'history', holds: /^\/audit/ },
  { to: '/agents', word: 'Agents', icon: 'agents', holds: /^\/(tasks|events)/ },
  { to: '/insights', word: 'Insights', icon: 'insights' },
  { to: '/settings', word: 'Settings', icon: 'settings' },
];

/** The navigation. No badges, no dots, no counts. */
export function Rail({ isInbox }: { isInbox: boolean }) {
  const { pathname } = useLocation();
  return (
    <nav className="rail" aria-label="Main">
      <Link to="/" className="wordmark" aria-label="Lanternroom, to the inbox">
        <Mark /> <span>Lanternroom</span>
      </Link>
      <ul>
        {PLACES.map(({ to, word, icon, holds }) => (
          <li key={to}>
            <Link
              to={to}
              className="place"
              activeOptions={{ exact: to === '/', includeSearch: false }}
              data-here={(to === '/' && isInbox) || holds?.test(pathname) || undefined}
            >
              <Icon name={icon} /> <span>{word}</span>
            </Link>
          </li>
        ))}
      </ul>
      <StatusLine />
    </nav>
  );
}

function StatusLine() {
  const { data } = useQuery(overviewQuery);
  const { data: preferences } = useQuery(preferencesQuery);
  const now = useNow();
  const next = data?.next_sitting_at ?? null;
  const quiet = preferences?.quiet ?? null;
  let text = '';
  if (quiet !== null && isQuiet(quiet, new Date(now), preferences?.time_zone ?? null))
    text = `Quiet until ${quiet.to}`;
  else if (next !== null) text = `Next sitting ${moment(next, now)}`;
  return <p className="rail-status">{text}</p>;
}
