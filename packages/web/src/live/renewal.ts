import { words } from '../composer/words.ts';

/**
 * The server was upgraded while the page was open, so a part of the page that is loaded late no longer exists. Then
 * the new page is loaded, after all words are saved. If the server just cannot be reached, nothing is done.
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
