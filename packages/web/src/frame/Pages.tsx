import { useInfiniteQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect } from 'react';
import { calmly } from '../api/refused.ts';
import { Trouble } from './Trouble.tsx';

type Page = { next_cursor: string | null };

/** A long list, read page by page. A page may be empty and still be followed by others. */
export function usePages<P extends Page, T>(asked: {
  key: readonly unknown[];
  ask: (cursor: string | null) => Promise<P>;
  items: (page: P) => readonly T[];
}) {
  const query = useInfiniteQuery({
    queryKey: asked.key,
    queryFn: ({ pageParam }) => asked.ask(pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  });
  const pages = query.data?.pages ?? [];
  return { ...query, pages, all: pages.flatMap(asked.items) };
}

export type Pages<T> = Pick<
  ReturnType<typeof useInfiniteQuery>,
  'error' | 'data' | 'hasNextPage' | 'isFetching' | 'isFetchingNextPage' | 'isFetchNextPageError'
> & {
  fetchNextPage: () => unknown;
  refetch: () => unknown;
  all: readonly T[];
};

/** How many empty pages in a row are read on without asking the person. */
const MOST_EMPTY = 50;

/** What surrounds every such list: the error, the words for an empty list, and the button for more. */
export function PageList({
  pages,
  empty,
  looking = 'Looking further back…',
  more,
  children,
}: {
  pages: Pages<unknown>;
  empty: ReactNode;
  looking?: string;
  more: string;
  children: ReactNode;
}) {
  const { data, error, hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage, all } = pages;
  const tried = (data as { pages: unknown[] } | undefined)?.pages.length ?? 0;
  const goesOn = all.length === 0 && hasNextPage && error === null && tried > 0 && tried < MOST_EMPTY;
  useEffect(() => {
    if (goesOn && !isFetchingNextPage) void fetchNextPage();
  }, [goesOn, isFetchingNextPage, fetchNextPage]);
  return (
    <>
      {error !== null && !isFetchNextPageError && (
        <div className="trouble-line">
          <Trouble of={error} />
          <button
            type="button"
            className="plain"
            aria-disabled={pages.isFetching}
            onClick={() => void pages.refetch()}
          >
            Try again
          </button>
        </div>
      )}
      {data === undefined && error === null && <p className="said">One moment…</p>}
      {data !== undefined && all.length === 0 && !hasNextPage && <p>{empty}</p>}
      <p className="said unless-empty" role="status">
        {goesOn && looking}
      </p>
      {all.length > 0 && children}
      {/* Shown where the person has just asked for more, because the top of a long list is out of sight. */}
      {isFetchNextPageError && <Trouble of={calmly(error)} />}
      {hasNextPage && !goesOn && (
        <p>
          <button
            type="button"
            className="button"
            aria-disabled={isFetchingNextPage}
            onClick={() => !isFetchingNextPage && void fetchNextPage()}
          >
            {isFetchingNextPage ? 'One moment…' : more}
          </button>
        </p>
      )}
    </>
  );
}
