import type { AnyRouter } from '@tanstack/react-router';

/**
 * Remembers by which link each page of the history was left, so that Back can focus that link again as soon as it is
 * drawn. On the way up from one thing to its list, it is the link that leads to that thing.
 */
export function linksLeft(router: AnyRouter) {
  const left = new Map<string, string>();
  let wanted: string | null = null;
  const stop = router.subscribe('onBeforeNavigate', ({ fromLocation, toLocation }) => {
    const link = document.activeElement?.closest('#main a')?.getAttribute('href');
    const from = fromLocation?.state.__TSR_key;
    if (link != null && from !== undefined) left.set(from, link);
    const isUp = fromLocation?.pathname.startsWith(`${toLocation.pathname}/`) === true;
    wanted = left.get(toLocation.state.__TSR_key ?? '') ?? (isUp ? fromLocation.href : null);
  });
  return {
    stop,
    forget: () => {
      wanted = null;
    },
    find: () =>
      wanted === null ? null : document.querySelector<HTMLElement>(`#main a[href="${CSS.escape(wanted)}"]`),
  };
}
