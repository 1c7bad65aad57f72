import { useQuery } from '@tanstack/react-query';
import { sessionQuery } from './questions.ts';

/** A reader may only read; everybody else may decide, snooze and acknowledge. */
export function useMayDecide(): boolean {
  const { data } = useQuery(sessionQuery);
  return data !== undefined && data.person.role !== 'reader';
}
