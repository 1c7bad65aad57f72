import { useSyncExternalStore } from 'react';
import { list } from './list-store.ts';

export const useList = () => useSyncExternalStore(list.subscribe, list.get);
export const useCursor = () => useSyncExternalStore(list.subscribe, list.getCursor);
