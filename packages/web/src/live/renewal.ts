import { words } from '../composer/words.ts';

/**
 * The server was upgraded under the open page, so a part of the page that is fetched late is not there any more. The
 * new page is loaded then, with every word kept first. When the server only cannot be reached, nothing is done.
 */
export function loadAnewAfterUpgrade(): void {
  addEventListener('vite:preloadError', () => void loadAnewIfOther());
}

async function loadAnewIfOther(): Promise<void> {
  const own = document.querySelector('script[type="module"][src]')?.getAttribute('src');
  const page = await fetch('/', { cache: 'no-store' }).then(
    (answer) => (answer.ok ? answer.text() : ''),
    () => '',
  );
  if (typeof own !== 'string' || page === '' || page.includes(own)) return;
  await words.flush();
  location.reload();
}
