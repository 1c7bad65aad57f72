import { lookAgain } from './news.ts';

/**
 * Lets the service worker keep what a day without network needs. It takes control of a page that was loaded without
 * it, and the page then reads once more what it shows: otherwise a first visit would leave nothing behind.
 */
export function keepForOffline(): void {
  const worker = navigator.serviceWorker;
  if (worker === undefined) return;
  worker.addEventListener('controllerchange', () => {
    for (const address of loadedAssets()) void fetch(address).catch(() => {});
    void lookAgain();
  });
  worker.register('/sw.js').catch(() => {});
}

function loadedAssets(): string[] {
  const names = performance.getEntriesByType('resource').map((entry) => entry.name);
  return names.filter((name) => name.startsWith(`${location.origin}/assets/`));
}
