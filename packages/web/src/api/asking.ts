import { type InvalidateOptions, type InvalidateQueryFilters, QueryClient } from '@tanstack/react-query';

/** Whatever is called out of date is read again, also when its first answer has not come yet. */
export class Asking extends QueryClient {
  /**
   * TanStack begins a question anew only if it has been answered before. One that is asked for the first time keeps
   * waiting for an answer that may be older than the change, and would then be shown as fresh.
   */
  override async invalidateQueries(
    filters?: InvalidateQueryFilters,
    options?: InvalidateOptions,
  ): Promise<void> {
    const first = this.getQueryCache()
      .findAll({ ...filters, fetchStatus: 'fetching' })
      .filter(({ state }) => state.data === undefined);
    await super.invalidateQueries(filters, options);
    if (first.length === 0) return;
    await Promise.allSettled(first.map(({ promise }) => promise));
    await super.invalidateQueries({ predicate: (query) => first.includes(query) }, options);
  }
}
