import type { Store, Tx } from '../../core/store.ts';
import type { Fresh } from '../contract.ts';

export const SPACE = 'sp_1';
/** Neither text nor JSON: bytes come back as they went in. */
export const BYTES = new Uint8Array([0, 1, 254, 255]);

/** A fresh store, with short words for one space of it, or for another. */
export function openedFor(fresh: Fresh) {
  return async () => {
    const { store } = await fresh();
    return {
      store: store as Store,
      write: <T>(work: (tx: Tx) => Promise<T>, space = SPACE) => store.write(space, [], work),
      read: <T>(work: (tx: Tx) => Promise<T>, space = SPACE) => store.read(space, work),
    };
  };
}
