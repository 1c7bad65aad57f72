import { queryOptions } from '@tanstack/react-query';
import { Asking } from './asking.ts';
import { desk, type EventName } from './desk.ts';
import { isRefused } from './refused.ts';
import type { TaskDetail } from './task-types.ts';

export const asking = new Asking({
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      refetchOnWindowFocus: false,
      networkMode: 'always',
      // A refusal would be the same the next time; only a missing answer is worth another try.
      retry: (count, error) => count < 2 && isRefused(error) && (error.status === 0 || error.status >= 502),
      retryDelay: (count) => 400 * 2 ** count,
    },
    mutations: { networkMode: 'always' },
  },
});

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: desk.session,
  staleTime: 300_000,
});
export const overviewQuery = queryOptions({ queryKey: ['overview'], queryFn: desk.overview });
export const settingsQuery = queryOptions({
  queryKey: ['settings'],
  queryFn: desk.settings,
  staleTime: 600_000,
});
export const preferencesQuery = queryOptions({
  queryKey: ['preferences'],
  queryFn: desk.preferences,
  staleTime: 600_000,
});
export const passkeysQuery = queryOptions({ queryKey: ['passkeys'], queryFn: desk.passkeys });
export const tokensQuery = queryOptions({ queryKey: ['tokens'], queryFn: desk.tokens });
/** The second part of the key is an object, because a string there would be the agent of that name. */
export const agentNamesQuery = queryOptions({
  queryKey: ['agents', { names: 'all' }],
  queryFn: desk.agentNames,
});
export const agentQuery = (id: string) =>
  queryOptions({ queryKey: ['agents', id], queryFn: () => desk.agent(id) });
export const deliveryQuery = (id: string) =>
  queryOptions({ queryKey: ['delivery', id], queryFn: () => desk.delivery(id), staleTime: 5_000 });
/** The log only grows, so only its new entries are fetched. */
export const taskQuery = (id: string) =>
  queryOptions({
    queryKey: ['tasks', 'one', id],
    queryFn: async ({ queryKey }): Promise<TaskDetail> => {
      const log = [...(asking.getQueryData<TaskDetail>(queryKey)?.log ?? [])];
      for (;;) {
        const page = await desk.task(id, log.at(-1)?.pos ?? 0);
        log.push(...page.log);
        if (page.next_after === null) return { ...page, log };
      }
    },
  });
export const cardQuery = (id: string) =>
  queryOptions({ queryKey: ['agents', id, 'card'], queryFn: () => desk.card(id) });
export const inboxQuery = (agent: string) =>
  queryOptions({ queryKey: ['events', 'inbox', agent], queryFn: () => desk.inbox(agent) });
export const eventQuery = (one: EventName) =>
  queryOptions({ queryKey: ['events', 'one', one], queryFn: () => desk.event(one) });
export const producersQuery = queryOptions({ queryKey: ['producers'], queryFn: desk.producers });
