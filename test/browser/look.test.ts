import { mkdtempSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { WEBHOOK_SECRET } from '../support/akep.ts';
import { until } from '../support/until.ts';
import { furnish, furnishEvents, furnishTasks } from './furnished.ts';
import { type Look, openDesk, openPage, row, sharedBrowser } from './room.ts';

const browser = sharedBrowser();
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
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

type Finding = { id: string; impact: string | null; nodes: { target: unknown[]; failureSummary?: string }[] };

/** Serious findings only, each with the places it was found at. */
async function axe(page: Page): Promise<string[]> {
  // Half-faded text would be judged by its half-faded colour.
  await page.evaluate(() => Promise.all(document.getAnimations().map((motion) => motion.finished)));
  await page.evaluate(AXE);
  const findings = await page.evaluate(async () => {
    const { axe } = window as unknown as { axe: { run(): Promise<{ violations: Finding[] }> } };
    return (await axe.run()).violations;
  });
  return findings
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(
      ({ id, nodes }) =>
        `${id}: ${nodes.map((node) => `${node.target.join(' ')} ${node.failureSummary ?? ''}`).join(' | ')}`,
    );
}

/** Requests under way, without the live line, which never rests. */
const underWay = new WeakMap<Page, Set<unknown>>();

function watch(page: Page): void {
  const requests = new Set<unknown>();
  underWay.set(page, requests);
  page.on('request', (request) => {
    if (!request.url().endsWith('/desk/stream')) requests.add(request);
  });
  for (const end of ['requestfinished', 'requestfailed'] as const)
    page.on(end as 'requestfinished', (request) => requests.delete(request));
}

/** Nothing is being fetched, in three looks in a row: an answer often leads to the next question. */
async function settled(page: Page): Promise<void> {
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
const overflow = (page: Page) =>
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

const ENV = { LANTERNROOM_UNDO_SECONDS: '1', AKEP_WEBHOOK_SECRET: WEBHOOK_SECRET };

async function furnished(look: Look) {
  const opened = await openDesk(browser(), { look, server: { env: ENV } });
  watch(opened.page);
  await furnish(opened.server);
  await furnishEvents(opened.server);
  const task = await furnishTasks(opened.server);
  return { ...opened, task, screens: [...SCREENS, `/tasks/${task}`] };
}

describe('every screen', () => {
  test.each([false, true])(
    'has no serious finding of axe (dark: %s)',
    async (dark) => {
      const { server, page, screens, trouble } = await furnished({ dark });
      for (const screen of screens) {
        await page.goto(screen);
        await settled(page);
        expect(await axe(page), screen).toEqual([]);
      }
      await openCardEditor(page);
      expect(await axe(page), 'card editor').toEqual([]);
      await openDelivery(page, 'May I order ten reams');
      expect(await axe(page), 'question of a task').toEqual([]);
      await openDelivery(page, 'Pay the invoice');
      expect(await axe(page), 'detail').toEqual([]);
      await page.keyboard.press('d');
      await page.getByRole('button', { name: 'Edit it myself' }).click();
      expect(await axe(page), 'composer').toEqual([]);
      await page.keyboard.press('Escape');
      await page.getByRole('link', { name: 'Skip to the content' }).focus();
      for (const [key, name] of [
        ['?', 'All keys'],
        ['Control+k', 'Find anything'],
        ['s', 'Out of sight until…'],
      ] as const) {
        await page.keyboard.press(key);
        await page.getByRole('dialog', { name }).waitFor();
        expect(await axe(page), name).toEqual([]);
        await page.keyboard.press('Escape');
      }
      const stranger = await openPage(browser(), server, { dark });
      watch(stranger.page);
      for (const screen of ['/login', '/setup', '/join', '/reset#rs_x']) {
        await stranger.page.goto(screen);
        await settled(stranger.page);
        expect(await axe(stranger.page), screen).toEqual([]);
      }
      expect(trouble).toEqual([]);
    },
    240_000,
  );

  test.each([320, 360, 640, 768, 1280, 1680])(
    'fits %i px, without a loss to either side',
    async (width) => {
      const { page, screens } = await furnished({
        width,
        height: width < 700 ? 640 : 900,
        isTouch: width < 800,
      });
      for (const screen of screens) {
        await page.goto(screen);
        await settled(page);
        expect(await overflow(page), screen).toEqual([]);
      }
      await openCardEditor(page);
      expect(await overflow(page), 'card editor').toEqual([]);
      await openDelivery(page, 'Pay the invoice');
      await page.getByRole('radio', { name: 'Redirect' }).click();
      await page.getByRole('button', { name: 'Edit it myself' }).click();
      expect(await overflow(page), 'composer').toEqual([]);
      await page
        .getByRole('button', { name: /^Redirect/ })
        .last()
        .scrollIntoViewIfNeeded();
    },
    240_000,
  );

  test('can be decided by touch on a phone', async () => {
    const { server, page } = await furnished({ width: 360, height: 740, isTouch: true });
    await page.goto('/');
    await row(page, 'Release notes').tap();
    await page.getByRole('radio', { name: 'Approve' }).tap();
    await page
      .getByRole('button', { name: /^Approve/ })
      .last()
      .tap();
    await page.getByText('Approved —').first().waitFor();
    expect(await (await server.desk()).request('GET', '/desk/history')).toMatchObject({ status: 200 });
  });

  test('works at 200 % zoom', async () => {
    const { page } = await furnished({ width: 640, height: 430 });
    await page.goto('/');
    await row(page, 'Pay the invoice').waitFor();
    expect(await overflow(page)).toEqual([]);
    await openDelivery(page, 'Pay the invoice');
    await page.keyboard.press('a');
    await page.getByRole('button', { name: /cannot be undone/ }).scrollIntoViewIfNeeded();
  });

  test('keeps still for whoever asks for no motion', async () => {
    const { page } = await furnished({ isCalm: true });
    await openDelivery(page, 'Pay the invoice');
    await page.keyboard.press('a');
    const moving = await page.evaluate(() => document.getAnimations().length);
    expect(moving).toBe(0);
  });

  test('the agent, the system and exact bytes speak in three typefaces, all bundled', async () => {
    const { page, trouble } = await furnished({});
    await openDelivery(page, 'Release notes');
    const face = (selector: string) =>
      page
        .locator(selector)
        .first()
        .evaluate((element) => getComputedStyle(element).fontFamily);
    expect(await face('.headline h1')).toContain('Literata');
    expect(await face('.strip')).toContain('Atkinson');
    await page.keyboard.press('v');
    await page.locator('.exact .code').waitFor();
    expect(await face('.exact .code')).toContain('IBM Plex Mono');
    const loaded = await page.evaluate(() =>
      [...document.fonts].filter((font) => font.status === 'loaded').map((font) => font.family),
    );
    expect(new Set(loaded.map((name) => name.replaceAll('"', '')))).toEqual(
      new Set(['Literata', 'Atkinson Hyperlegible Next', 'IBM Plex Mono']),
    );
    expect(trouble).toEqual([]);
  });
});

async function openCardEditor(page: Page): Promise<void> {
  await page.goto('/agents/bookkeeper');
  await page.getByRole('button', { name: 'Edit the card' }).click();
  await settled(page);
}

async function openDelivery(page: Page, headline: string): Promise<void> {
  await page.goto('/');
  await row(page, headline).locator('a').first().click();
  await page.getByRole('radio', { name: 'Approve' }).waitFor();
}

/** The pictures of the README are taken by the same test; ordinarily they go to a folder that nobody keeps. */
const PICTURES =
  process.env.UPDATE_SCREENSHOTS === '1' ? 'docs/screenshots' : mkdtempSync(join(tmpdir(), 'pictures-'));

describe('screenshots for the docs', () => {
  test.each([
    ['desktop-light', { width: 1280, height: 800 }],
    ['desktop-dark', { width: 1280, height: 800, dark: true }],
    ['phone-light', { width: 390, height: 780, isTouch: true }],
    ['phone-dark', { width: 390, height: 780, isTouch: true, dark: true }],
  ] as [string, Look][])(
    '%s',
    async (name, look) => {
      const { page, task } = await furnished(look);
      const shoot = (what: string) => page.screenshot({ path: `${PICTURES}/${what}-${name}.png` });
      await page.goto('/');
      await settled(page);
      await shoot('inbox');
      await openDelivery(page, 'Letter to the tax office');
      await settled(page);
      await shoot('revision');
      await openDelivery(page, 'Pay the invoice');
      await page.getByRole('radio', { name: 'Redirect' }).click();
      await page.getByLabel('What should be different?').fill('The usual amount, please.');
      await settled(page);
      await shoot('composer');
      await page.goto(`/tasks/${task}`);
      await settled(page);
      await shoot('task');
      if (name !== 'desktop-light') return;
      for (const screen of ['sit', 'history', 'agents', 'tasks', 'insights']) {
        await page.goto(`/${screen}`);
        await settled(page);
        await shoot(screen);
      }
      await openCardEditor(page);
      await page.getByRole('region', { name: 'Card' }).scrollIntoViewIfNeeded();
      await shoot('card');
    },
    120_000,
  );
});
