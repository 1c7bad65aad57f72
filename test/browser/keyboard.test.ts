import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { furnish } from './furnished.ts';
import { FURNISHED, settled, sharedFurnished, watch } from './looking.ts';
import { acceptAgent, counted, focused, HELD_LONG, openDesk, row, send, sharedBrowser } from './room.ts';

const browser = sharedBrowser();
const furnished = sharedFurnished(browser);

const LOW = { width: 1280, height: 420 };

/** How far down the screen is. */
const depth = (page: Page) => page.locator('#main').evaluate((main) => main.scrollTop);

/** Where the focus is, and whether it can be seen there: a ring, or the mark of a pane. */
const focus = (page: Page) =>
  page.evaluate(() => {
    const active = document.activeElement;
    if (active === null || active === document.body) return { what: 'nowhere', isSeen: false };
    const { outlineStyle, boxShadow } = getComputedStyle(active);
    const { top, bottom, left, right } = active.getBoundingClientRect();
    const isInside = bottom > 0 && top < innerHeight && right > 0 && left < innerWidth;
    const words = active.getAttribute('aria-label') ?? active.textContent ?? '';
    const what = `${active.tagName.toLowerCase()}.${active.className} ${words.trim().slice(0, 40)}`;
    // The button inside a time field draws the ring itself, out of our sight.
    const hasOwn = active instanceof HTMLInputElement && active.type === 'time';
    const isSeen = isInside && (hasOwn || outlineStyle !== 'none' || boxShadow !== 'none');
    return { what, isSeen };
  });

/** Presses a key, and the focus is somewhere afterwards. */
async function press(page: Page, ...keys: string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key);
  await until(`the focus is somewhere after ${keys.join(' ')}`, async () => {
    return (await focus(page)).what !== 'nowhere';
  });
}

describe('without a mouse', () => {
  test('every stop of Tab can be seen, on every screen', async () => {
    const { page, screens } = await furnished({});
    for (const screen of screens) {
      await page.goto(screen);
      await settled(page);
      for (let stop = 0; stop < 40; stop++) {
        await page.keyboard.press('Tab');
        const { what, isSeen } = await focus(page);
        if (what === 'nowhere') break;
        expect(isSeen, `${screen}: ${what}`).toBe(true);
      }
    }
  });

  test('a screen scrolls by keys as soon as it is there, and the next one begins at its beginning', async () => {
    const { page } = await furnished(LOW);
    await page.goto('/audit');
    await settled(page);
    await page.keyboard.press('PageDown');
    // Wait for it to end: a smooth scroll under way would carry on from wherever the page is by then.
    await until('it has scrolled', async () => {
      const before = await depth(page);
      await page.waitForTimeout(200);
      return before > 0 && (await depth(page)) === before;
    });
    // Two keys count together within a second or so, which a busy machine may put between them.
    await until('g and a lead to the agents', async () => {
      await page.keyboard.press('g');
      await page.keyboard.press('a');
      return page.getByRole('heading', { name: 'Agents', exact: true }).isVisible();
    });
    await settled(page);
    await expect.poll(() => depth(page), { timeout: 60_000 }).toBe(0);
    await focused(page.locator('#main'));
    await page.keyboard.press('PageDown');
    await expect.poll(() => depth(page), { timeout: 60_000 }).toBeGreaterThan(0);
  });

  test('a link leads into the new screen, Back to the link, and Esc from one thing to its list', async () => {
    const { page, task } = await furnished({});
    for (const [list, link, heading] of [
      ['/agents', '/agents/release-notes', 'release-notes'],
      ['/tasks', `/tasks/${task}`, 'Task'],
      ['/events?agent=agent-01', '/events/agent-01/evt_build_0002', 'Event'],
      ['/history', '/audit', 'Audit'],
    ] as const) {
      await page.goto(list);
      const one = page.locator(`#main a[href^="${link}"]`).first();
      await one.press('Enter');
      await page.getByRole('heading', { name: heading, level: 1, exact: true }).waitFor();
      await focused(page.locator('#main'));
      await page.goBack();
      await focused(one);
      await one.press('Enter');
      await page.getByRole('heading', { name: heading, level: 1, exact: true }).waitFor();
      await press(page, 'Escape');
      await page.getByRole('heading', { name: heading, level: 1, exact: true }).waitFor({ state: 'hidden' });
      expect(page.url().endsWith(list)).toBe(true);
      await focused(list === '/history' ? page.locator('#main') : one);
    }
    await page.goto('/agents/release-notes');
    const address = page.getByLabel('An address');
    await address.focus();
    await press(page, 'Escape');
    await focused(page.getByRole('region', { name: 'Callbacks' }).locator('form'));
    expect(new URL(page.url()).pathname).toBe('/agents/release-notes');
  });

  test('another thing of the same kind is another screen: no question is left for it, and Back finds the link', async () => {
    const { page, task } = await furnished({});
    await page.goto('/tasks');
    const other = await page.getByRole('link', { name: 'Prepare the figures' }).getAttribute('href');
    await page.goto(`/tasks/${task}`);
    await page.getByRole('button', { name: 'Cancel the task' }).press('Enter');
    const question = page.getByText('It cannot be taken up again.');
    await question.waitFor();
    // Forward and Back lead from one to another without a screen between them.
    await page.evaluate((address) => history.pushState(null, '', address), other);
    await page.getByText('Prepare the figures').waitFor();
    await counted(question, 0);
    await focused(page.locator('#main'));
    await page.goto('/events/agent-01/evt_build_0002');
    const cause = page.getByRole('link', { name: /evt_build_0001/ });
    await cause.press('Enter');
    await page.getByText('It said: Too early.').waitFor();
    await focused(page.locator('#main'));
    await page.goBack();
    await focused(cause);
  });

  test('a search: Enter goes to what was found, Esc to the rows, and then to the whole inbox', async () => {
    const { page } = await furnished({});
    await row(page, 'Pay the invoice').waitFor();
    await press(page, '/');
    await page.keyboard.type('tax office');
    await page.keyboard.press('Enter');
    await focused(row(page, 'Letter to the tax office').locator('a'));
    expect(await page.locator('article.row').count()).toBe(1);
    await press(page, '/');
    await press(page, 'Escape');
    await focused(row(page, 'Letter to the tax office').locator('a'));
    await press(page, 'Escape');
    await row(page, 'Pay the invoice').waitFor();
    expect(new URL(page.url()).search).toBe('');
    await focused(row(page, 'Letter to the tax office').locator('a'));
  });

  test('what is checked is answered together by the keys that answer one', async () => {
    const { server, page } = await openDesk(browser(), { server: HELD_LONG });
    for (const headline of ['The first', 'The second', 'The third'])
      await server.wake().delivered({ headline, timeout_seconds: undefined });
    await page.reload();
    await row(page, 'The third').waitFor();
    for (const name of ['The first', 'The second']) {
      await press(page, 'j');
      await focused(row(page, name).locator('a'));
      await press(page, 'Enter');
      await page.getByRole('heading', { name, level: 1 }).waitFor();
      await page.getByRole('radio', { name: 'Approve' }).waitFor();
      await press(page, 'x');
    }
    // While one is open, the keys are about that one.
    await press(page, 'a');
    await focused(page.getByLabel('Anything for next time?'));
    await press(page, 'Escape');
    await press(page, 'x', 'x');
    await page.getByText('Two checked.').waitFor();
    await page.goto('/');
    await row(page, 'The first').waitFor();
    await press(page, 'j', 'x', 'j', 'x');
    await page.getByText('Two checked.').waitFor();
    await press(page, 'r');
    const sheet = page.getByRole('dialog', { name: 'Reject together' });
    await focused(sheet.getByLabel('Why not?'));
    await page.keyboard.type('Not this month.');
    await press(page, send);
    for (const name of ['The first', 'The second'])
      await row(page, name).getByText('Rejected, not sent yet').waitFor();
    await press(page, 'z');
  });

  test('keys mean what is open also when one comes back to it: what is read makes room for the next', async () => {
    const { server, page } = await openDesk(browser());
    await acceptAgent(server);
    for (const headline of ['The first', 'The second'])
      await server.wake().delivered({ type: 'alert', headline });
    await page.reload();
    await row(page, 'The first').getByRole('link').click();
    await page.getByRole('button', { name: /^Acknowledge/ }).waitFor();
    await press(page, 'g', 'h');
    await page.getByRole('heading', { name: 'History' }).waitFor();
    await page.goBack();
    await page.getByRole('button', { name: /^Acknowledge/ }).waitFor();
    await press(page, 'e');
    await page.getByRole('heading', { name: 'The second', level: 1 }).waitFor();
  });

  test('a morning’s inbox is answered to its end, and the focus is never lost', async () => {
    const { server, page } = await openDesk(browser(), { server: FURNISHED });
    await furnish(server);
    watch(page);
    await page.goto('/');
    await row(page, 'Pay the invoice').waitFor();
    await press(page, 'j');
    await press(page, 'Enter');
    for (;;) {
      await settled(page);
      const answer = page.getByRole('radio', { name: 'Approve' });
      const read = page.getByRole('button', { name: /^(Acknowledge|Mark as read)/ });
      if (new URL(page.url()).pathname === '/') break;
      await answer.or(read).waitFor();
      if (await read.isVisible()) await press(page, 'e');
      else {
        await press(page, 'a');
        await focused(page.locator('#feedback'));
        await press(page, send);
      }
    }
    const desk = await server.desk();
    const { json } = await desk.request<{ sections: Record<string, number> }>('GET', '/desk/overview');
    expect(json.sections.needs_you).toBe(0);
  });
});
