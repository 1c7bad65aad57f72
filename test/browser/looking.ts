import type { Browser, Page } from 'playwright-core';
import { WEBHOOK_SECRET } from '../support/akep.ts';
import type { Desk } from '../support/desk.ts';
import { type Server, sharedServer } from '../support/server.ts';
import { given, until } from '../support/until.ts';
import { furnish, furnishEvents, furnishTasks } from './furnished.ts';
import { type Look, logIn, openPage, row, type Watched } from './room.ts';

const SCREENS = [
  '/',
  '/sit',
  '/history',
  '/audit',
  '/agents',
  '/agents/release-notes',
  '/agents/bookkeeper',
  '/tasks',
  '/events',
  '/events?agent=agent-01',
  '/events/agent-01/evt_build_0002',
  '/insights',
  '/settings',
  '/settings/reading',
  '/settings/keys',
  '/settings/people',
  '/settings/security',
  '/settings/system',
];

/** Requests under way, without the live line, which never rests. */
const underWay = new WeakMap<Page, Set<unknown>>();

export function watch(page: Page): void {
  const requests = new Set<unknown>();
  underWay.set(page, requests);
  page.on('request', (request) => {
    if (!request.url().endsWith('/desk/stream')) requests.add(request);
  });
  for (const end of ['requestfinished', 'requestfailed'] as const)
    page.on(end as 'requestfinished', (request) => requests.delete(request));
}

/** Nothing is being fetched, in three looks in a row: an answer often leads to the next question. */
export async function settled(page: Page): Promise<void> {
  await page.locator('h1:visible').first().waitFor();
  let quiet = 0;
  await until('the page rests', async () => {
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 30))));
    quiet = underWay.get(page)?.size === 0 ? quiet + 1 : 0;
    return quiet === 3;
  });
  await page.evaluate(() => document.fonts.ready);
}

/** Regions in which nothing may lie beyond the edge; what scrolls on purpose is a named scroller inside them. */
const REGIONS = [
  'html',
  '#main',
  '.rail',
  '.screen',
  '.list-pane',
  '.list-scroll',
  '#detail',
  '.composer',
  '.sit',
];

/** Every region whose content is wider than it, with what sticks out. */
export const overflow = (page: Page) =>
  page.evaluate((regions) => {
    const found: string[] = [];
    for (const region of regions.flatMap((name) => [...document.querySelectorAll(name)])) {
      if (region.clientWidth === 0 || region.scrollWidth <= region.clientWidth) continue;
      const edge = region.getBoundingClientRect().right;
      const out = [...region.querySelectorAll('*')].filter(
        (e) => e.getBoundingClientRect().right > edge + 0.5,
      );
      const last = out.at(-1);
      found.push(
        `${region.tagName}.${region.className}: ${region.scrollWidth} > ${region.clientWidth}, ${last?.tagName}.${last?.className}`,
      );
    }
    return found;
  }, REGIONS);

export const FURNISHED = {
  env: { LANTERNROOM_UNDO_SECONDS: '1', AKEP_WEBHOOK_SECRET: WEBHOOK_SECRET },
};

export type Furnished = Watched & { server: Server; task: string; screens: string[] };

/** A furnished desk for the tests of a file, which look at it and change nothing; each gets a page of its own. */
export function sharedFurnished(browser: () => Browser): (look: Look) => Promise<Furnished> {
  let task: string | undefined;
  const server = sharedServer(FURNISHED, async (server, atEnd) => {
    await furnish(server);
    await furnishEvents(server);
    task = await furnishTasks(server, atEnd);
  });
  return async (look) => {
    const watched = await openPage(browser(), server(), look);
    watch(watched.page);
    await forgetDrafts(await server().desk());
    await logIn(watched, server());
    const asks = given(task, 'task');
    return { ...watched, server: server(), task: asks, screens: [...SCREENS, `/tasks/${asks}`] };
  };
}

/** What an earlier test had begun to write would be there again, and its verdict chosen. */
async function forgetDrafts(desk: Desk): Promise<void> {
  const { json } = await desk.request<{ deliveries: { delivery_id: string }[] }>('GET', '/desk/deliveries');
  for (const { delivery_id } of json.deliveries)
    await desk.request('DELETE', `/desk/deliveries/${delivery_id}/draft`);
}

export async function openCardEditor(page: Page): Promise<void> {
  await page.goto('/agents/bookkeeper');
  await page.getByRole('button', { name: 'Edit the card' }).click();
  await settled(page);
}

export async function openDelivery(page: Page, headline: string): Promise<void> {
  await page.goto('/');
  await row(page, headline).locator('a').first().click();
  await page.getByRole('radio', { name: 'Approve' }).waitFor();
}
