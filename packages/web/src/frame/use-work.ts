import { useState } from 'react';
import { asking } from '../api/questions.ts';
import { calmly } from '../api/refused.ts';
import { useAlone } from './use-alone.ts';

/** Runs a change, reloads what it may have changed, and keeps the words about its outcome, or why it failed. */
export function useWork(changes: readonly string[]) {
  const [said, setSaid] = useState('');
  const { busy, alone } = useAlone(() => setSaid(''));
  /**
   * `work` returns the words to show when it is done. Returns whether it succeeded. `name` tells it apart from others
   * that may run at the same time.
   */
  const run = async (work: () => Promise<string>, name?: string): Promise<boolean> => {
    const isDone = await alone(async () => {
      try {
        setSaid(await work());
        return true;
      } catch (error) {
        setSaid(calmly(error));
        return false;
      } finally {
        // Even after a failure: it may have been carried out all the same, or somebody else may have done it.
        void asking.invalidateQueries({ queryKey: changes });
      }
    }, name);
    return isDone ?? false;
  };
  return { said, run, busy };
}
