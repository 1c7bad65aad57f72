import { useEffect, useSyncExternalStore } from 'react';
import type { Detail } from '../api/types.ts';
import { type Keeping, type Words, words } from './words.ts';

export function useWords(detail: Detail): Words {
  const id = detail.delivery_id;
  const { draft } = detail;
  useEffect(() => {
    if (draft !== null && draft !== undefined) words.adopt(id, draft);
  }, [id, draft]);
  return useSyncExternalStore(words.subscribe, () => words.get(id));
}

export const useKeeping = (id: string): Keeping =>
  useSyncExternalStore(words.subscribe, () => words.keeping(id));
