import { useRef, useState } from 'react';

/**
 * One at a time for each name: a second press while the first is under way is the same wish, not another key, token or
 * invitation. `busy` is for `aria-busy`, which says so. `forget` takes back what was said of the last try: the same words, said
 * again where they still stand, would be neither seen nor heard.
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
