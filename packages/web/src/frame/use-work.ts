import { useState } from 'react';
import { asking } from '../api/questions.ts';
import { calmly } from '../api/refused.ts';
import { useAlone } from './use-alone.ts';

/** Runs what changes something, asks again for what it may have changed, and keeps what there is to say of it, or why it failed. */
export function useWork(changes: readonly string[]) {
  const [said, setSaid] = useState('');
  const { busy, alone } = useAlone(() => setSaid(''));
  /** `work` gives what is to be said when it is done. True when it was. `name` parts it from others that may run beside. */
  const run = async (work: () => Promise<string>, name?: string): Promise<boolean> => {
    const isDone = await alone(async () => {
      try {
        setSaid(await work());
        return true;
      } catch (error) {
        setSaid(calmly(error));
        return false;
      } finally {
        // Also when it failed: it may have been done all the same, or be gone already.
        void asking.invalidateQueries({ queryKey: changes });
      }
    }, name);
    return isDone ?? false;
  };
  return { said, run, busy };
}
