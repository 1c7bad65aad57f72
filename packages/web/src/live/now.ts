import { useSyncExternalStore } from 'react';
import { onClockChanged, serverNow } from './clock.ts';

type Beat = { now: number; listeners: Set<() => void>; timer: ReturnType<typeof setInterval> | undefined };

function beat(everyMs: number): { subscribe: (l: () => void) => () => void; get: () => number } {
  const state: Beat = { now: serverNow(), listeners: new Set(), timer: undefined };
  const tick = () => {
    state.now = serverNow();
    for (const tell of state.listeners) tell();
  };
  onClockChanged(tick);
  return {
    get: () => state.now,
    subscribe: (listener) => {
      state.listeners.add(listener);
      if (state.timer === undefined) {
        state.now = serverNow();
        state.timer = setInterval(tick, everyMs);
      }
      return () => {
        state.listeners.delete(listener);
        if (state.listeners.size > 0) return;
        clearInterval(state.timer);
        state.timer = undefined;
      };
    },
  };
}

const minutes = beat(20_000);
const seconds = beat(250);

/** The time, fresh enough for words like "4 min". */
export const useNow = () => useSyncExternalStore(minutes.subscribe, minutes.get);
/** The time, fresh enough for a countdown. */
export const useSeconds = () => useSyncExternalStore(seconds.subscribe, seconds.get);
