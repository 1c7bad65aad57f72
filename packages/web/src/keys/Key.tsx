import { useSyncExternalStore } from 'react';
import type { Action } from './key-map.ts';
import { keyWords } from './key-map.ts';
import { currentMap, isMac, keysAreOff, subscribeKeys } from './keyboard.ts';

/** The name of a key, beside the button that does the same. Hidden when single keys are switched off. */
export function Key({ of }: { of: Action }) {
  // The person's own keys may arrive after the button is drawn.
  const binding = useSyncExternalStore(subscribeKeys, currentMap)[of];
  const areOff = useSyncExternalStore(subscribeKeys, keysAreOff);
  if (areOff && !binding.startsWith('Mod+')) return null;
  return <kbd>{keyWords(binding, isMac)}</kbd>;
}
