import { createContext, useContext, useLayoutEffect, useRef, useState } from 'react';
import { addLayer, type Handlers, nextOrder } from './keyboard.ts';

/** How many dialogs are open around this: only the topmost receives keys. */
export const Depth = createContext(0);

export function useKeys(handlers: Handlers): void {
  const depth = useContext(Depth);
  const [order] = useState(nextOrder);
  const latest = useRef(handlers);
  latest.current = handlers;
  useLayoutEffect(() => addLayer({ depth, order, handlers: () => latest.current }), [depth, order]);
}
