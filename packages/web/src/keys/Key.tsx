import { useSyncExternalStore } from 'react';
import type { Action } from './key-map.ts';
import { keyWords } from './key-map.ts';
import { currentMap, isMac, keysAreOff, subscribeKeys } from './keyboard.ts';

/** A key's name beside the button that does the same. Gone when single keys are switched off. */
export function Key({ of }: { of: Action }) {
  // The person's own keys may be known only after the button is there.
  const binding = useSyncExternalStore(subscribeKeys, currentMap)[of];
  const areOff = useSyncExternalStore(subscribeKeys, keysAreOff);
  if (areOff && !binding.startsWith('Mod+')) return null;
  return <kbd>{keyWords(binding, isMac)}</kbd>;
}
