import { createContext, useContext, useLayoutEffect, useRef } from 'react';
import { addLayer, type Handlers } from './keyboard.ts';

/** How many dialogs are open around here: only the topmost hears keys. */
export const Depth = createContext(0);

export function useKeys(handlers: Handlers): void {
  const depth = useContext(Depth);
  const latest = useRef(handlers);
  latest.current = handlers;
  useLayoutEffect(() => addLayer({ depth, handlers: () => latest.current }), [depth]);
}
