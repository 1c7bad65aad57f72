import { logIn, openBrowser } from '../load/browser.mjs';
import { spread } from '../rounds.mjs';
import { fill, OWNER, remove, startLanternroom, temporaryFolder } from '../servers.mjs';

const DELIVERIES = 10_000;
const ROWS = 500;
const PRESSES = 200;
const FIRST_GOAL = { most: 1000 };
const KEY_GOAL = { most: 50 };

/** The desk as a person sees it: from the address to the first rows, and from a key to the row that answers it. */
export const b10 = {
  name: 'B10',
  async run({ rounds, say }) {
    say(`filling a store with ${DELIVERIES.toLocaleString('en')} deliveries`);
    const folder = temporaryFolder();
    await fill(folder, { total: DELIVERIES, fresh: 1 });
    const server = await startLanternroom(folder);
    const browser = await openBrowser();
    try {
      const opened = [];
      for (let round = 0; round < rounds; round++)
        opened.push(await look(browser, `http://127.0.0.1:${server.port}`));
      return toResults(browser.version(), opened);
    } finally {
      await browser.close();
      await server.stop();
      remove(folder);
    }
  },
};

/** One visit, in a profile that has never been here. */
async function look(browser, url) {
  const context = await logIn(browser, url, OWNER);
  try {
    const page = await context.newPage();
    await page.addInitScript(watchFirstRow);
    await page.goto('/');
    const handle = await page.waitForFunction(() => window.firstRowAt);
    const firstMs = await handle.jsonValue();
    await loadRows(page);
    return { firstMs, keysMs: await pressKeys(page) };
  } finally {
    await context.close();
  }
}

/** Runs in the page, before anything of it: the time from the start of the navigation to the frame with the first row. */
function watchFirstRow() {
  const seen = new MutationObserver(() => {
    if (document.querySelector('article.row') === null) return;
    seen.disconnect();
    afterPaint((at) => {
      window.firstRowAt = at;
    });
  });
  seen.observe(document, { childList: true, subtree: true });

  // A message sent from a frame's callback comes in when that frame has been painted.
  function afterPaint(tell) {
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => tell(performance.now());
      port2.postMessage(null);
    });
  }
  window.afterPaint = afterPaint;
}

const loaded = (page) =>
  page.evaluate(() => {
    const places = [...document.querySelectorAll('.list-place')];
    return Math.max(...places.map((place) => Number(place.dataset.index)));
  });

/** The list takes in more as one scrolls. */
async function loadRows(page) {
  while ((await loaded(page)) < ROWS) {
    await page.evaluate(() => {
      const list = document.querySelector('.list-scroll');
      list.scrollTop = list.scrollHeight;
    });
    await page.waitForTimeout(50);
  }
}

/** Down and up again, so that the rows stay the same ones; each press must have moved the cursor when it is painted. */
async function pressKeys(page) {
  await page.evaluate(() => {
    window.presses = [];
    const cursor = () => document.querySelector('article.row[data-cursor] a')?.id;
    const listen = (event) => {
      const before = cursor();
      window.afterPaint((at) =>
        window.presses.push({ ms: at - event.timeStamp, moved: cursor() !== before }),
      );
    };
    addEventListener('keydown', listen, { capture: true });
  });
  await page.keyboard.press('j');
  for (let i = 1; i <= PRESSES; i++) {
    await page.keyboard.press(i <= PRESSES / 2 ? 'j' : 'k');
    await page.waitForFunction((count) => window.presses.length > count, i);
  }
  // The first press only puts the cursor somewhere.
  const presses = (await page.evaluate(() => window.presses)).slice(1);
  const lame = presses.filter(({ moved }) => !moved).length;
  if (lame > 0) throw new Error(`${lame} of ${presses.length} keys had not moved the cursor when painted`);
  return presses.map(({ ms }) => ms);
}

function toResults(browser, opened) {
  const at = (share) =>
    spread(
      opened.map(({ keysMs }) => keysMs.toSorted((a, b) => a - b)[Math.ceil(keysMs.length * share) - 1]),
    );
  return [
    {
      what: `desk, ${DELIVERIES.toLocaleString('en')} deliveries: first list painted`,
      unit: 'ms',
      ours: spread(opened.map(({ firstMs }) => firstMs)),
      goal: FIRST_GOAL,
      notes: { browser },
    },
    {
      what: `desk, ${ROWS} rows: key to paint (p95)`,
      unit: 'ms',
      ours: at(0.95),
      goal: KEY_GOAL,
      notes: { browser, p50Ms: at(0.5).median, worstMs: at(1).max, keys: PRESSES },
      raw: { ours: opened },
    },
  ];
}
