import { useQuery } from '@tanstack/react-query';
import {
  type AnyRouteMatch,
  Outlet,
  useMatchRoute,
  useNavigate,
  useRouter,
  useRouterState,
} from '@tanstack/react-router';
import { useEffect, useLayoutEffect, useState } from 'react';
import { preferencesQuery, settingsQuery } from '../api/questions.ts';
import { LoginAgain } from '../entry/LoginAgain.tsx';
import { onKeyDown, setKeys } from '../keys/keyboard.ts';
import { useKeys } from '../keys/use-keys.ts';
import { useCalmOrder } from '../live/calm-order.ts';
import { listen } from '../live/stream.ts';
import { wear } from '../look/wear.ts';
import { AllKeys } from './AllKeys.tsx';
import { FootLine } from './FootLine.tsx';
import { fetchAhead } from './fetched-later.tsx';
import { keepFocus } from './keep-focus.ts';
import { keepOnLeaving } from './keep-on-leaving.ts';
import { Palette } from './Palette.tsx';
import { Rail } from './Rail.tsx';
import { useSat } from './sat.ts';
import { useWayUp } from './way-up.ts';
import './frame.css';

/** The screen's place among the routes that match: below the root and this frame. */
const UNDER_THE_FRAME = 2;

type Match = Pick<AnyRouteMatch, 'routeId' | 'params' | 'search' | 'staticData'>;

/**
 * One agent, task or event is a screen of its own: a question that was open about the first, or a key that was just
 * made for it, must never stand under the name of the second. Lists and settings stay when their address changes.
 */
function screenName(match: Match | undefined): string {
  if (match?.staticData.isThing !== true) return match?.routeId ?? '';
  return JSON.stringify([match.routeId, match.params, match.search]);
}

/** Everything around a screen. */
export function Frame() {
  const [over, setOver] = useState<'palette' | 'keys' | null>(null);
  const navigate = useNavigate();
  const router = useRouter();
  const match = useMatchRoute();
  const isInbox = Boolean(match({ to: '/' }) || match({ to: '/d/$id' }));
  const screen = useRouterState({ select: ({ matches }) => screenName(matches[UNDER_THE_FRAME]) });
  useQuery(settingsQuery);
  useOwnLook();
  useCalmOrder();
  useSat();
  useWayUp();
  useEffect(listen, []);
  useEffect(fetchAhead, []);
  useEffect(keepOnLeaving, []);
  useEffect(() => keepFocus(router), [router]);
  // Before the first paint, so that whatever can be seen can already be reached by keyboard.
  useLayoutEffect(() => {
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, []);
  const go = (to: string) => () => void navigate({ to });
  useKeys({
    go_inbox: go('/'),
    go_sit: go('/sit'),
    go_history: go('/history'),
    go_agents: go('/agents'),
    go_insights: go('/insights'),
    palette: () => setOver('palette'),
    help: () => setOver('keys'),
  });
  const close = () => setOver(null);
  return (
    <div className="frame">
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <Rail isInbox={isInbox} />
      {/* A new element for each screen: a browser that is still scrolling smoothly would go on in the next screen. */}
      <main key={screen} id="main" className="main" tabIndex={-1}>
        <Outlet />
      </main>
      <FootLine />
      <LoginAgain />
      {over === 'palette' && <Palette onClose={close} onKeys={() => setOver('keys')} />}
      {over === 'keys' && <AllKeys onClose={close} />}
    </div>
  );
}

/** The person's own theme, density, size and keys. */
function useOwnLook(): void {
  const { data } = useQuery(preferencesQuery);
  useLayoutEffect(() => {
    if (data === undefined) return;
    setKeys(data.keys, data.keys_off);
    wear(data);
  }, [data]);
}
