// The offline shell: the page itself, and the last list, which the page then says is the last one.
const SHELL = 'lanternroom-shell-1';
const LAST = 'lanternroom-last-1';
const PAGE = '/';
/** Where the one page is served. Elsewhere (documents, files to save) is not ours to keep, nor to stand in for. */
const DESK =
  /^\/(?:(?:login|setup|join|reset|sit|history|audit|insights|tasks|events|agents|d|settings)(?:\/|$)|$)/;

self.addEventListener('install', (event) => {
  // A page that cannot be had now is kept when somebody next opens it; the worker serves either way.
  const kept = fetch(PAGE).then((answer) => (answer.ok ? keepPage(answer) : undefined));
  event.waitUntil(kept.catch(() => {}));
  self.skipWaiting();
});

self.addEventListener('activate', (event) => {
  event.waitUntil(
    caches
      .keys()
      .then((names) =>
        Promise.all(
          names.filter((name) => name !== SHELL && name !== LAST).map((name) => caches.delete(name)),
        ),
      )
      .then(() => self.clients.claim()),
  );
});

// Another person sits here, or nobody: what the one before could see must go.
self.addEventListener('message', (event) => {
  if (event.data === 'forget') event.waitUntil(caches.delete(LAST));
});

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== 'GET' || url.origin !== location.origin) return;
  if (request.mode === 'navigate') {
    if (DESK.test(url.pathname)) event.respondWith(page(request));
  } else if (isAsset(url)) event.respondWith(asset(request));
  else if (isKept(url)) event.respondWith(last(request));
});

/** Who is here, what the desk says, and the first page of the list. Never a delivery's content. */
function isKept({ pathname, search }) {
  if (['/desk/session', '/desk/overview', '/desk/settings', '/desk/preferences'].includes(pathname))
    return true;
  return pathname === '/desk/deliveries' && !search.includes('cursor=') && !search.includes('q=');
}

async function page(request) {
  try {
    const answer = await fetch(request);
    if (answer.ok) await keepPage(answer.clone());
    return answer;
  } catch {
    return (await caches.match(PAGE)) ?? Response.error();
  }
}

/** Another page than the last is another version: what belonged to the one before would lie here for ever. */
async function keepPage(answer) {
  const cache = await caches.open(SHELL);
  const [before, now] = await Promise.all([cache.match(PAGE), answer.clone().text()]);
  await cache.put(PAGE, answer);
  if (before === undefined || (await before.text()) === now) return;
  const kept = (await cache.keys()).filter(({ url }) => isAsset(new URL(url)));
  await Promise.all(
    kept.filter(({ url }) => !now.includes(new URL(url).pathname)).map((one) => cache.delete(one)),
  );
}

const isAsset = ({ pathname }) => pathname.startsWith('/assets/');

/** Names carry a hash of their content, so what was kept is what would be fetched. */
async function asset(request) {
  const kept = await caches.match(request);
  if (kept !== undefined) return kept;
  const answer = await fetch(request);
  if (answer.ok) {
    const cache = await caches.open(SHELL);
    await cache.put(request, answer.clone());
  }
  return answer;
}

async function last(request) {
  try {
    const answer = await fetch(request);
    if (answer.ok) await keep(request, answer.clone());
    if (answer.status === 401) await caches.delete(LAST);
    return answer;
  } catch {
    const cache = await caches.open(LAST);
    return (await cache.match(request)) ?? Response.error();
  }
}

async function keep(request, answer) {
  const headers = new Headers(answer.headers);
  headers.set('x-lanternroom-kept', new Date().toISOString());
  const cache = await caches.open(LAST);
  await cache.put(request, new Response(await answer.blob(), { headers }));
}
