import { inWords } from '../words/numbers.ts';

/** How well sending its answers works, for the list of agents and for the page of one. */
export function callbackHealth(failing: number, hasCallbacks: boolean): string {
  if (failing > 0) return failing === 1 ? 'one callback fails' : `${inWords(failing)} callbacks fail`;
  return hasCallbacks ? 'callbacks are fine' : 'no callbacks';
}
