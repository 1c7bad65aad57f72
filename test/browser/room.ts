import {
  type Browser,
  type BrowserContext,
  chromium,
  type LaunchOptions,
  type Locator,
  type Page,
} from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { browserPath } from '../../scripts/browser.mjs';
import { newAgent, OWNER, Server, type ServerOptions, type TestAgent } from '../support/server.ts';
import { given } from '../support/until.ts';

/**
 * The browser's own menus are pages too, and loading them with every window took a third of the time. The others are
 * those that Playwright turns off: of two such lists a browser reads the last.
 */
const WITHOUT = [
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'AimEnabled',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
];

const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--no-first-run',
  '--disable-dev-shm-usage',
  '--host-resolver-rules=MAP desk.test 127.0.0.1',
  `--disable-features=${WITHOUT.join()}`,
];

async function launch(options: LaunchOptions = {}): Promise<Browser> {
  const executablePath = await browserPath();
  if (executablePath === undefined)
    throw new Error('There is no Chrome or Chromium here. Run npm test, which brings one.');
  return chromium.launch({ executablePath, args: ARGS, headless: true, ...options });
}

/** One that keeps the pages it has left for Back, as those of people do and Playwright's does not. */
export async function rememberingBrowser(): Promise<Browser> {
  const browser = await launch({ ignoreDefaultArgs: ['--disable-back-forward-cache'] });
  onTestFinished(() => browser.close());
  return browser;
}

/** One Chromium for a test file; each page has a fresh profile of its own. */
export function sharedBrowser(): () => Browser {
  let browser: Browser | undefined;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser?.close());
  return () => given(browser, 'browser');
}

export type Look = {
  width?: number;
  height?: number;
  dark?: boolean;
  isTouch?: boolean;
  isCalm?: boolean;
  ignoresPolicy?: boolean;
  /** The offline shell is its own test; elsewhere it would only stand between. */
  hasWorker?: boolean;
  /** By its name instead of its number, which is what passkeys need. */
  isNamed?: boolean;
  /** By a name in the house, without https: browsers trust such a page with less. */
  isPlain?: boolean;
};

/** A page that remembers everything that must not happen. */
export type Watched = { page: Page; context: BrowserContext; trouble: string[] };

export async function openPage(browser: Browser, server: Server, look: Look = {}): Promise<Watched> {
  const { width = 1280, height = 860 } = look;
  const name = look.isPlain === true ? 'desk.test' : look.isNamed === true ? 'localhost' : '127.0.0.1';
  const base = server.url.replace('127.0.0.1', name);
  const context = await browser.newContext({
    baseURL: base,
    viewport: { width, height },
    colorScheme: look.dark === true ? 'dark' : 'light',
    hasTouch: look.isTouch === true,
    reducedMotion: look.isCalm === true ? 'reduce' : 'no-preference',
    bypassCSP: look.ignoresPolicy === true,
    serviceWorkers: look.hasWorker === true ? 'allow' : 'block',
    permissions: ['clipboard-write'],
  });
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  const trouble: string[] = [];
  page.on('pageerror', (error) => trouble.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => {
    trouble.push(`dialog: ${dialog.message()}`);
    // The page may be gone before it is.
    dialog.dismiss().catch(() => {});
  });
  page.on('console', (message) => {
    if (/content security policy/i.test(message.text())) trouble.push(`policy: ${message.text()}`);
  });
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol.startsWith('http') && origin !== base) trouble.push(`outside: ${request.url()}`);
  });
  onTestFinished(() => close(context));
  return { page, context, trouble };
}

/** A request that a test has taken over may still be under way, and would end as an error that belongs to no test. */
async function close(context: BrowserContext): Promise<void> {
  for (const page of context.pages()) await page.unrouteAll({ behavior: 'ignoreErrors' });
  await context.close();
}

export async function logIn(
  { context, page }: Watched,
  server: Server,
  to = '/',
  who = OWNER,
): Promise<void> {
  const reply = await context.request.post(`${server.url}/desk/session`, {
    data: who,
    headers: { origin: server.url },
  });
  expect(reply.status()).toBe(200);
  await page.goto(to);
}

/** A server with an owner, and a page of theirs. */
export async function openDesk(
  browser: Browser,
  options: { server?: ServerOptions; look?: Look; to?: string } = {},
) {
  const server = await Server.start(options.server);
  const watched = await openPage(browser, server, options.look);
  await logIn(watched, server, options.to);
  return { server, ...watched };
}

/** A page of the owner's, and an agent of the test's own with so many questions. */
export async function openQuestions(browser: Browser, server: Server, headlines: readonly string[]) {
  const agent = await knownAgent(server);
  const ids: string[] = [];
  for (const headline of headlines)
    ids.push(await server.wake(agent.key).delivered({ agent_id: agent.id, headline }));
  const watched = await openPage(browser, server);
  await logIn(watched, server, `/?agent=${agent.id}`);
  for (const headline of headlines) await row(watched.page, headline).waitFor();
  return { ...watched, agent, ids };
}

/** An agent of the test's own whose deliveries stand in their ordinary places. */
export async function knownAgent(server: Server): Promise<TestAgent> {
  const desk = await server.desk();
  const agent = await newAgent(desk);
  const hello = { agent_id: agent.id, type: 'update', headline: 'Hello', timeout_seconds: undefined };
  await desk.request('POST', `/desk/deliveries/${await server.wake(agent.key).delivered(hello)}/read`, {});
  return agent;
}

/** Looked at one after the other, as what is answered together must be. */
export async function openAll(page: Page, agent: TestAgent, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    await page.goto(`/d/${id}?agent=${agent.id}`);
    await page.getByRole('radio', { name: 'Approve' }).waitFor();
  }
}

export async function checkAll(page: Page, headlines: readonly string[]): Promise<void> {
  for (const headline of headlines) await row(page, headline).getByRole('checkbox').check({ force: true });
}

/** A delivery, open and ready to be answered. */
export async function openDelivery(page: Page, id: string): Promise<void> {
  await page.goto(`/d/${id}`);
  await page.getByRole('radio', { name: 'Approve' }).waitFor();
}

/** So many, sooner or later: what is shown often follows an answer that a notice has already told of. */
export function counted(locator: Locator, count: number): Promise<void> {
  return expect.poll(() => locator.count(), { timeout: 120_000 }).toBe(count);
}

/** The field holds this, sooner or later. */
export function holds(locator: Locator, value: string): Promise<void> {
  return expect.poll(() => locator.inputValue(), { timeout: 120_000 }).toBe(value);
}

/** It has the focus, so that what is typed next goes there. */
export function focused(locator: Locator): Promise<void> {
  const look = () => locator.evaluate((element) => element === document.activeElement);
  return expect.poll(look, { timeout: 120_000 }).toBe(true);
}

/** Whole, and not cut off by what scrolls around it. */
export function isInSight(locator: Locator): Promise<boolean> {
  const look = (element: Element) =>
    new Promise<boolean>((resolve) => {
      const seen: IntersectionObserverCallback = ([entry], observer) => {
        observer.disconnect();
        resolve((entry?.intersectionRatio ?? 0) > 0.99);
      };
      new IntersectionObserver(seen).observe(element);
    });
  return locator.evaluate(look);
}

/** The palette, open and listening: what is typed next goes into it. */
export async function openPalette(page: Page): Promise<void> {
  await page.keyboard.press(process.platform === 'darwin' ? 'Meta+k' : 'Control+k');
  await focused(page.getByRole('dialog', { name: 'Find anything' }).getByRole('combobox'));
}

/** An undo window that no slow machine outlasts: for tests that look at a decision while it is held. */
export const HELD_LONG: ServerOptions = { env: { LANTERNROOM_UNDO_SECONDS: '3600' } };

/** The key that sends an answer. */
export const send = process.platform === 'darwin' ? 'Meta+Enter' : 'Control+Enter';

/** Somebody else who may decide. */
export const BOB = { email: 'bob@example.com', password: 'a sentence is a good password' };

export async function addBob(server: Server): Promise<void> {
  const desk = await server.desk();
  const { status } = await desk.request('POST', '/desk/people', { ...BOB, name: 'Bob', role: 'decider' });
  expect(status).toBe(201);
}

export const row = (page: Page, headline: string) => page.locator('article.row', { hasText: headline });

/** The agent is known, so that its deliveries stand in their ordinary places. */
export async function acceptAgent(server: Server): Promise<void> {
  const id = await server.wake().delivered({ type: 'update', headline: 'Hello', timeout_seconds: undefined });
  const desk = await server.desk();
  await desk.request('POST', `/desk/deliveries/${id}/read`, {});
}

/** Whoever waits at it goes on when it is opened. */
export function gate(): { opened: Promise<void>; open: () => void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** The next such request gets its answer late: the server gives it now, and it reaches the page when it is let go. */
export async function answerLate(page: Page, url: string | RegExp) {
  const [given, late] = [gate(), gate()];
  await page.route(
    url,
    async (route) => {
      const response = await route.fetch();
      given.open();
      await late.opened;
      await route.fulfill({ response });
    },
    { times: 1 },
  );
  return { given: given.opened, letGo: late.open };
}

/** What is asked now is asked after whatever the page asked before it. */
export const everythingAsked = (page: Page) => page.evaluate(() => fetch('/healthz').then(() => {}));
