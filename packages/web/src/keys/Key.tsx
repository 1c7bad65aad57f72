import type { Action } from './key-map.ts';
import { keyWords } from './key-map.ts';
import { currentMap, isMac, keysAreOff } from './keyboard.ts';

/** A key's name beside the button that does the same. Gone when single keys are switched off. */
export function Key({ of }: { of: Action }) {
  const binding = currentMap()[of];
  if (keysAreOff() && !binding.startsWith('Mod+')) return null;
  return <kbd>{keyWords(binding, isMac)}</kbd>;
}
