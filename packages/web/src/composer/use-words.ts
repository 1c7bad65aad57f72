import { useEffect, useSyncExternalStore } from 'react';
import { asking } from '../api/questions.ts';
import type { Detail } from '../api/types.ts';
import { type Keeping, type Words, words } from './words.ts';

export function useWords(detail: Detail): Words {
  const id = detail.delivery_id;
  const { draft } = detail;
  useEffect(() => {
    if (draft !== null && draft !== undefined) words.adopt(id, draft);
  }, [id, draft]);
  useLookingAgain(id);
  return useSyncExternalStore(words.subscribe, () => words.get(id));
}

/** Somebody who comes back to this window may have gone on writing in another browser. */
function useLookingAgain(id: string): void {
  useEffect(() => {
    const look = () => void asking.invalidateQueries({ queryKey: ['delivery', id] });
    addEventListener('focus', look);
    return () => removeEventListener('focus', look);
  }, [id]);
}

export const useKeeping = (id: string): Keeping =>
  useSyncExternalStore(words.subscribe, () => words.keeping(id));
