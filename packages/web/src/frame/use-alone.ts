import { useRef, useState } from 'react';

/**
 * Runs one action at a time for each name: a second press while the first is under way is the same wish, not a wish
 * for another key, token or invitation. `busy` is for `aria-busy`. `forget` clears the words about the last try,
 * because the same words again would be neither noticed nor read out.
 */
export function useAlone(forget: () => void = () => {}) {
  const underWay = useRef(new Set<string>());
  const [busy, setBusy] = useState(false);
  const alone = async <T>(work: () => Promise<T>, name = ''): Promise<T | undefined> => {
    if (underWay.current.has(name)) return undefined;
    underWay.current.add(name);
    setBusy(true);
    forget();
    try {
      return await work();
    } finally {
      underWay.current.delete(name);
      setBusy(underWay.current.size > 0);
    }
  };
  return { busy, alone };
}
