import { useState } from 'react';
import { asking } from '../api/questions.ts';
import { calmly } from '../api/refused.ts';

/** Runs what changes something, asks again for what it changed, and keeps what there is to say of it, or why it failed. */
export function useWork(changes: readonly string[]) {
  const [said, setSaid] = useState('');
  /** `work` gives what is to be said when it is done. True when it was. */
  const run = async (work: () => Promise<string>): Promise<boolean> => {
    try {
      setSaid(await work());
      void asking.invalidateQueries({ queryKey: changes });
      return true;
    } catch (error) {
      setSaid(calmly(error));
      return false;
    }
  };
  return { said, run };
}
