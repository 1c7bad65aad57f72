import { type ComponentType, useCallback, useEffect, useState, useSyncExternalStore } from 'react';
import { line } from '../live/stream.ts';
import { Screen } from './Screen.tsx';

type Fetched = { screen: ComponentType | null; fetch: () => Promise<void> };

const all: Fetched[] = [];

/**
 * A screen in a file of its own. If the file cannot be loaded, that is said in the screen's place and can be tried
 * again: the frame stays, and with it all words that are not saved anywhere else.
 */
export function fetchedLater(load: () => Promise<ComponentType>) {
  const fetched: Fetched = {
    screen: null,
    fetch: async () => {
      fetched.screen ??= await load();
    },
  };
  all.push(fetched);
  // Navigation waits for `preload`: the person stays on the old screen until the file is loaded, or has failed.
  return Object.assign(() => <Later of={fetched} />, { preload: () => fetched.fetch().catch(() => {}) });
}

/** The screen that is shown comes first, also over a slow connection. */
const AHEAD_MS = 3_000;

/**
 * Loads the other screens one after the other, so that each is ready when it is opened, also after the network is
 * gone.
 */
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
