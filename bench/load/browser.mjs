import { chromium } from 'playwright-core';
import { browserPath } from '../../scripts/browser.mjs';

const ARGS = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--no-first-run'];

/** A real Chromium without a window. */
export async function openBrowser() {
  const executablePath = await browserPath();
  if (executablePath === undefined)
    throw new Error('There is no Chrome or Chromium here. npm test brings one; then run the bench again.');
  return chromium.launch({ executablePath, args: ARGS, headless: true });
}

/** A fresh profile with nothing in its cache, in which a person has logged in. */
export async function logIn(browser, url, who) {
  const context = await browser.newContext({
    baseURL: url,
    viewport: { width: 1280, height: 860 },
    // A service worker would answer from its cache; this is about the first visit.
    serviceWorkers: 'block',
  });
  const reply = await context.request.post(`${url}/desk/session`, { data: who, headers: { origin: url } });
  if (reply.status() !== 200) throw new Error(`the login was refused: ${reply.status()}`);
  return context;
}
