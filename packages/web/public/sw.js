// The offline shell: the page itself, and the last list, which the page then says is the last one.
const SHELL = 'lanternroom-shell-1';
const LAST = 'lanternroom-last-1';
const PAGE = '/';
/** A server that says nothing for so long counts as one that cannot be reached, where something was kept. */
const PATIENCE_MS = 6_000;
/** A page asks for a handful of things: who was waited for in vain is not waited for as long each time. */
const SHORT_MS = 1_000;
const REMEMBERED_MS = 30_000;
let silentAt = 0;
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

function page(request) {
  return freshOrKept(request, {
    keep: async (answer) => (answer.ok ? keepPage(answer) : undefined),
    find: () => caches.match(PAGE),
  });
}

/** What the server says; when it says nothing, or does not begin to in time, what was kept. */
async function freshOrKept(request, { keep, find }) {
  const said = fetch(request).catch(() => undefined);
  const inTime = await Promise.race([said, patience()]);
  silentAt = inTime === undefined ? Date.now() : 0;
  const kept = inTime === undefined ? await find() : undefined;
  if (kept !== undefined) return kept;
  const answer = await said;
  if (answer === undefined) return Response.error();
  // A disk without room for a copy is no reason to show nothing.
  await keep(answer.clone()).catch(() => {});
  return answer;
}

function patience() {
  const wasSilent = Date.now() - silentAt < REMEMBERED_MS;
  return new Promise((resolve) => setTimeout(resolve, wasSilent ? SHORT_MS : PATIENCE_MS));
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
    const copy = answer.clone();
    await caches
      .open(SHELL)
      .then((cache) => cache.put(request, copy))
      .catch(() => {});
  }
  return answer;
}

function last(request) {
  return freshOrKept(request, {
    keep: async (answer) => {
      if (answer.ok) await keep(request, answer);
      if (answer.status === 401) await caches.delete(LAST);
    },
    find: async () => (await caches.open(LAST)).match(request),
  });
}

async function keep(request, answer) {
  const headers = new Headers(answer.headers);
  headers.set('x-lanternroom-kept', new Date().toISOString());
  const cache = await caches.open(LAST);
  await cache.put(request, new Response(await answer.blob(), { headers }));
}
