import { type ComponentType, useCallback, useEffect, useState, useSyncExternalStore } from 'react';
import { line } from '../live/stream.ts';
import { Screen } from './Screen.tsx';

type Fetched = { screen: ComponentType | null; fetch: () => Promise<void> };

const all: Fetched[] = [];

/**
 * A screen with a file of its own. When that cannot be fetched it is said in the screen's place, and tried again: the frame
 * around it stays, and with it every word that is only here.
 */
export function fetchedLater(load: () => Promise<ComponentType>) {
  const fetched: Fetched = {
    screen: null,
    fetch: async () => {
      fetched.screen ??= await load();
    },
  };
  all.push(fetched);
  // Whoever goes there stays where they were until it is here, or cannot be.
  return Object.assign(() => <Later of={fetched} />, { preload: () => fetched.fetch().catch(() => {}) });
}

/** What is shown comes first, also over a slow line. */
const AHEAD_MS = 3_000;

/** The other screens, one after the other: each is here before it is gone to, also when the network no longer is. */
export function fetchAhead(): () => void {
  const fetchAll = async () => {
    for (const { fetch } of all) await fetch();
  };
  const timer = setTimeout(() => void fetchAll().catch(() => {}), AHEAD_MS);
  return () => clearTimeout(timer);
}

function Later({ of: fetched }: { of: Fetched }) {
  const [Here, setHere] = useState(() => fetched.screen);
  const again = useCallback(async () => {
    await fetched.fetch().catch(() => {});
    setHere(() => fetched.screen);
  }, [fetched]);
  return Here === null ? <NotFetched onAgain={again} /> : <Here />;
}

function NotFetched({ onAgain }: { onAgain: () => Promise<void> }) {
  const isConnected = useSyncExternalStore(line.subscribe, line.connected);
  useEffect(() => {
    if (isConnected) void onAgain();
  }, [isConnected, onAgain]);
  return (
    <Screen title="Not here yet">
      <p role="alert">
        This screen could not be fetched from the server. It is tried again as soon as the server answers.
      </p>
      <p>
        <button type="button" className="button" onClick={() => void onAgain()}>
          Try again
        </button>
      </p>
    </Screen>
  );
}
