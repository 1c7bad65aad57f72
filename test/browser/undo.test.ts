import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { until } from '../support/until.ts';
import {
  acceptAgent,
  addBob,
  BOB,
  counted,
  everythingAsked,
  gate,
  HELD_LONG,
  holds,
  openDelivery,
  openDesk,
  row,
  send,
  sharedBrowser,
} from './room.ts';

const browser = sharedBrowser();

describe('the undo window', () => {
  test('[D14] a reload in the middle: the foot still says what is held, and z takes it back', async () => {
    const { server, page } = await openDesk(browser(), { server: HELD_LONG });
    await acceptAgent(server);
    const id = await server.wake().delivered({ headline: 'Sent and reloaded' });
    await openDelivery(page, id);
    await page.keyboard.press('a');
    await page.keyboard.press(send);
    await page.locator('.foot').getByText('Approved —').waitFor();
    await until('it is held', async () => (await (await server.desk()).detail(id)).state === 'held');
    await page.goto('/history');
    await page.locator('.foot').getByText('Sent and reloaded').waitFor();
    await page.keyboard.press('z');
    await page.getByText('waits for you again').waitFor();
    expect((await (await server.desk()).detail(id)).state).toBe('pending');
    await counted(page.locator('.foot').getByRole('button', { name: 'Undo' }), 0);
  });

  test('a clock of the browser that is hours off changes nothing about it', async () => {
    const { server, page } = await openDesk(browser(), { server: HELD_LONG });
    await acceptAgent(server);
    const id = await server.wake().delivered({ headline: 'Which time is it?' });
    await page.addInitScript(runAhead, 5 * 3_600_000);
    await openDelivery(page, id);
    await page.keyboard.press('a');
    await page.keyboard.press(send);
    await page.locator('.foot').getByText('Approved —').waitFor();
    await page.goto(`/d/${id}`);
    await page
      .locator('.state-line')
      .getByText(/goes out in [1-6]\d min/)
      .waitFor();
    await page.locator('.state-line').getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('radio', { name: 'Approve' }).waitFor();
    await page.goto('/');
    await row(page, 'Which time is it?')
      .locator('.row-age')
      .getByText(/^(now|\d+ min)$/)
      .waitFor();
  });

  test('an undo that does not reach the server can be tried again', async () => {
    const { server, page } = await openDesk(browser(), { server: HELD_LONG });
    await acceptAgent(server);
    const id = await server.wake().delivered({ headline: 'Take it back' });
    await openDelivery(page, id);
    await page.keyboard.press('a');
    await page.keyboard.press(send);
    await page.locator('.foot').getByText('Approved —').waitFor();
    await until('it is held', async () => (await (await server.desk()).detail(id)).state === 'held');
    await page.route('**/decision', (route) => route.abort());
    await page.keyboard.press('z');
    await page.getByText('cannot be reached').waitFor();
    await page.unroute('**/decision');
    await page.keyboard.press('z');
    await page.getByText('waits for you again').waitFor();
    expect((await (await server.desk()).detail(id)).state).toBe('pending');
  });

  test('[D14] words survive an undo where the list does not know the delivery, however long one writes on', async () => {
    const { server, page } = await openDesk(browser(), { server: HELD_LONG });
    await acceptAgent(server);
    const id = await server.wake().delivered({ headline: 'Not among the alerts' });
    await page.clock.install();
    await page.goto(`/d/${id}?type=alert`);
    await page.getByRole('radio', { name: 'Approve' }).waitFor();
    await page.keyboard.press('a');
    const field = page.getByLabel('Anything for next time?');
    await field.fill('First thought.');
    await page.keyboard.press(send);
    await page.locator('.foot').getByText('Approved —').waitFor();
    await until('it is held', async () => (await (await server.desk()).detail(id)).state === 'held');
    await page.keyboard.press('z');
    await page.getByText('waits for you again').waitFor();
    await page.goBack();
    await holds(field, 'First thought.');
    await field.fill('First thought. And a second.');
    await page.clock.fastForward('01:01:00');
    await holds(field, 'First thought. And a second.');
  });

  test('[D37] undone after a reload: every word is there again, also those of the last moment', async () => {
    const { server, page } = await openDesk(browser(), { server: HELD_LONG });
    await acceptAgent(server);
    const id = await server.wake().delivered({ headline: 'Written and sent at once' });
    await page.route('**/draft', (route) => route.abort());
    await openDelivery(page, id);
    await page.keyboard.press('r');
    await page.getByLabel('Why not?').fill('Too late, and too dear.');
    await page.keyboard.press(send);
    await page.locator('.foot').getByText('Rejected —').waitFor();
    await until('it is held', async () => (await (await server.desk()).detail(id)).state === 'held');
    await page.unroute('**/draft');
    await page.goto(`/d/${id}`);
    await page.locator('.state-line').getByRole('button', { name: 'Undo' }).click();
    await holds(page.getByLabel('Why not?'), 'Too late, and too dear.');
  });

  test('sent twice in one moment it is sent once', async () => {
    const { server, page } = await openDesk(browser(), { server: HELD_LONG });
    await acceptAgent(server);
    const id = await server.wake().delivered({ headline: 'Once' });
    await openDelivery(page, id);
    await page.keyboard.press('a');
    await page.locator('.send').waitFor();
    const asked = decisionsOf(page);
    const reply = page.waitForResponse((response) => response.url().endsWith('/decision'));
    await page.locator('.send').evaluate((button: HTMLElement) => {
      button.click();
      button.click();
    });
    expect((await reply).status()).toBe(200);
    expect(asked).toHaveLength(1);
  });

  test('a key that is held down sends once, and not what comes next', async () => {
    const { server, page } = await openDesk(browser(), { server: HELD_LONG });
    await acceptAgent(server);
    const [id, other] = [
      await server.wake().delivered({ headline: 'Held down' }),
      await server.wake().delivered({ headline: 'Not this one' }),
    ];
    const desk = await server.desk();
    const draft = { mode: 'approved', feedback: 'Begun.', edited_content: null };
    for (const one of [id, other]) await desk.request('PUT', `/desk/deliveries/${one}/draft`, draft);
    await openDelivery(page, id);
    await row(page, 'Not this one').waitFor();
    await holds(page.getByLabel('Anything for next time?'), 'Begun.');
    const asked = decisionsOf(page);
    const [mod, enter] = send.split('+') as [string, string];
    await page.keyboard.down(mod);
    await page.keyboard.down(enter);
    await page.getByRole('heading', { name: 'Not this one' }).waitFor();
    await holds(page.getByLabel('Anything for next time?'), 'Begun.');
    for (let times = 0; times < 3; times++) await page.keyboard.down(enter);
    await page.keyboard.up(enter);
    await page.keyboard.up(mod);
    await everythingAsked(page);
    expect(asked).toHaveLength(1);
  });

  test('[D12] an answer that was taken although its reply got lost counts as given', async () => {
    const { server, page } = await openDesk(browser(), { server: HELD_LONG });
    await acceptAgent(server);
    const id = await server.wake().delivered({ headline: 'Lost on the way back' });
    await openDelivery(page, id);
    await page.keyboard.press('a');
    await page.getByLabel('Anything for next time?').fill('Thanks.');
    const lost = gate();
    await page.route('**/decision', async (route) => {
      await route.fetch();
      await route.abort();
      lost.open();
    });
    await page.keyboard.press(send);
    await lost.opened;
    await page.unroute('**/decision');
    const back = page.locator('.foot').getByText('waits for you again');
    await until('it can be taken back', async () => {
      await page.keyboard.press('z');
      return back.isVisible();
    });
    await counted(page.getByText('was not answered'), 0);
    expect((await (await server.desk()).detail(id)).state).toBe('pending');
  });

  test('somebody else who logs in on the same page sees nothing of what was held', async () => {
    const { server, page } = await openDesk(browser(), { server: HELD_LONG });
    await acceptAgent(server);
    await addBob(server);
    const id = await server.wake().delivered({ headline: 'For the owner’s eyes' });
    await openDelivery(page, id);
    await page.keyboard.press('a');
    await page.keyboard.press(send);
    await page.locator('.foot').getByText('For the owner’s eyes').waitFor();
    await page.evaluate(() => fetch('/desk/session', { method: 'DELETE' }));
    const dialog = page.getByRole('dialog', { name: 'Log in again' });
    await dialog.getByLabel('E-mail').fill(BOB.email);
    await dialog.getByLabel('Password').fill(BOB.password);
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'hidden' });
    await counted(page.locator('.foot').getByText('For the owner’s eyes'), 0);
  });
});

/** Every decision that the page sends from now on. */
function decisionsOf(page: Page): string[] {
  const asked: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/decision')) asked.push(request.url());
  });
  return asked;
}

/** Runs in the page: its clock is ahead by so much. */
function runAhead(ms: number): void {
  const Real = Date;
  const ahead = class extends Real {
    constructor(...given: [] | [number]) {
      if (given.length === 0) super(Real.now() + ms);
      else super(...given);
    }
    static override now() {
      return Real.now() + ms;
    }
  };
  Object.assign(window, { Date: ahead });
}
