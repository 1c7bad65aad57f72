import { useQuery } from '@tanstack/react-query';
import { sessionQuery } from './questions.ts';

/** A reader reads; deciding, snoozing and acknowledging are for the others. */
export function useMayDecide(): boolean {
  const { data } = useQuery(sessionQuery);
  return data !== undefined && data.person.role !== 'reader';
}
