import type { Locator } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { newAgent, sharedServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { counted, focused, HELD_LONG, holds, logIn, openDelivery, openPage, sharedBrowser } from './room.ts';

const browser = sharedBrowser();
const server = sharedServer(HELD_LONG);

async function openAt(to: string) {
  const watched = await openPage(browser(), server());
  await logIn(watched, server(), to);
  return watched;
}

/** It has not fallen to the top of the page. */
function focusIsIn(place: Locator): Promise<void> {
  const look = () => place.evaluate((element) => element.contains(document.activeElement));
  return expect.poll(look, { timeout: 120_000 }).toBe(true);
}

describe('what was begun stays', () => {
  test('[D66] a card that is half edited is still there after a look elsewhere, and only what was changed is kept', async () => {
    const desk = await server().desk();
    const { id } = await newAgent(desk);
    const { page, trouble } = await openAt(`/agents/${id}`);
    const card = page.getByRole('region', { name: 'Card' });
    const does = card.getByLabel(/^What it does/);
    await card.getByRole('button', { name: 'Edit the card' }).press('Enter');
    await focused(does);
    await does.fill('Counts what was left over.');
    await page.getByRole('link', { name: 'History', exact: true }).click();
    await page.getByRole('heading', { name: 'History' }).waitFor();
    await page.goBack();
    await card.getByText('What you changed before is still here.').waitFor();
    await holds(does, 'Counts what was left over.');
    // Somebody else changes another field meanwhile.
    await desk.request('PUT', `/desk/agents/${id}/card`, { version: '7.0.0' });
    await card.getByRole('button', { name: 'Keep it' }).press('Enter');
    await card.getByText(/^The card is changed/).waitFor();
    await focused(card.getByRole('button', { name: 'Edit the card' }));
    type View = { card: { description: string; version: string } };
    const { json } = await desk.request<View>('GET', `/desk/agents/${id}/card`);
    expect(json.card).toMatchObject({ description: 'Counts what was left over.', version: '7.0.0' });
    expect(trouble).toEqual([]);
  });

  test('[D66] whoever closes the page over a card that is half edited is asked first', async () => {
    const { id } = await newAgent(await server().desk());
    const { page } = await openAt(`/agents/${id}`);
    const isAsked = () =>
      page.evaluate(() => !dispatchEvent(new Event('beforeunload', { cancelable: true })));
    await page.getByRole('button', { name: 'Edit the card' }).click();
    expect(await isAsked()).toBe(false);
    await page.getByLabel(/^What it does/).fill('Half a sentence');
    expect(await isAsked()).toBe(true);
    await page.getByRole('button', { name: 'Leave it as it was' }).click();
    expect(await isAsked()).toBe(false);
  });

  test('[D37] a draft of somebody who is logged out waits for them instead of asking again and again', async () => {
    const { id: agent, key } = await newAgent(await server().desk());
    const id = await server().wake(key).delivered({ agent_id: agent, headline: 'Who writes?' });
    const { page, context } = await openAt('/');
    await openDelivery(page, id);
    // The choice is kept by the real clock, before the other one takes its place: it would be sent in the middle of what follows.
    const chosen = page.waitForResponse((reply) => reply.url().endsWith('/draft'));
    await page.keyboard.press('d');
    await chosen;
    const saved: number[] = [];
    page.on('response', (reply) => {
      if (reply.url().endsWith('/draft')) saved.push(reply.status());
    });
    await page.clock.install();
    await context.clearCookies();
    await page.getByLabel('What should be different?').fill('Something else.');
    await page.clock.runFor(2_000);
    const dialog = page.getByRole('dialog', { name: 'Log in again' });
    await dialog.waitFor();
    for (let minute = 0; minute < 3; minute++) await page.clock.runFor(60_000);
    expect(saved.filter((status) => status === 401)).toHaveLength(1);
    await dialog.getByLabel('Password').fill('correct horse battery');
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'hidden' });
    await page.clock.runFor(2_000);
    await until('the draft is kept', () => saved.includes(204) || saved.includes(200));
    await page.getByText('Kept as a draft while you write.').waitFor();
  });
});

describe('a page of something on the way to the server', () => {
  const refuse = (status: number) => ({ status, contentType: 'text/html', body: '<h1>Blocked</h1>' });

  test('[D37] a draft that it refused is tried again, and is not called over', async () => {
    const { id: agent, key } = await newAgent(await server().desk());
    const id = await server().wake(key).delivered({ agent_id: agent, headline: 'Who is between?' });
    const { page } = await openAt('/');
    await openDelivery(page, id);
    await page.route('**/draft', (route) => route.fulfill(refuse(403)));
    await page.keyboard.press('d');
    await page.getByLabel('What should be different?').fill('Something else.');
    await page.getByText('Not kept as a draft yet').waitFor();
    await page.unroute('**/draft');
    await page.getByText('Kept as a draft while you write.').waitFor();
  });

  test('nobody is told that nothing was made, where nobody knows, nor that it was the server', async () => {
    const { page } = await openAt('/settings/security');
    const tokens = page.getByRole('region', { name: 'Tokens for scripts' });
    await tokens.getByLabel('What it is for').fill('nightly');
    await page.route('**/desk/tokens', (route) =>
      route.request().method() === 'POST' ? route.fulfill(refuse(524)) : route.continue(),
    );
    await tokens.getByRole('button', { name: 'Make a token' }).click();
    await tokens.getByText('nobody knows whether it was done').waitFor();
    await page.unroute('**/desk/tokens');
    await page.route('**/desk/agents/nobody-here', (route) => route.fulfill(refuse(404)));
    await page.goto('/agents/nobody-here');
    await page.getByText('Something on the way to the server refused this.').waitFor();
  });
});

describe('the focus stays', () => {
  test('where what was pressed is gone, the focus is near it', async () => {
    const { id } = await newAgent(await server().desk());
    const { page } = await openAt(`/agents/${id}`);
    const keys = page.getByRole('region', { name: 'Keys' });
    await keys.getByRole('button', { name: 'Revoke' }).press('Enter');
    await keys.getByText('The agent stops at once.').waitFor();
    await page.keyboard.press('Enter');
    await keys.getByText(/^revoked/).waitFor();
    await focusIsIn(keys);
  });

  test('what is under way keeps it, and so does a setting that is kept', async () => {
    const { page } = await openAt('/audit');
    const verify = page.getByRole('button', { name: 'Verify now' });
    await verify.press('Enter');
    await page.getByText(/^Chain verified/).waitFor();
    await focused(verify);
    await page.goto('/settings');
    const sittings = page.getByRole('region', { name: 'Sittings' });
    for (const day of ['Mon', 'Tue', 'Wed', 'Thu', 'Fri']) await sittings.getByLabel(day).uncheck();
    await sittings.getByRole('button', { name: 'Add a sitting' }).click();
    await sittings.getByText('Choose at least one day for it.').waitFor();
    const quiet = page.getByRole('region', { name: 'Quiet hours' });
    const keep = quiet.getByRole('button', { name: 'Keep these' });
    await keep.press('Enter');
    await quiet.getByText(/^Nothing is sent to you between/).waitFor();
    await focused(keep);
    await quiet.getByRole('button', { name: 'No quiet hours' }).press('Enter');
    await quiet.getByText('None are set.').waitFor();
    await focusIsIn(quiet);
    const zone = page.getByLabel('Sittings and quiet hours follow the clock of');
    await zone.focus();
    await zone.selectOption('Europe/Vienna');
    await page.getByRole('region', { name: 'Time zone' }).getByText('Kept.').waitFor();
    await focused(zone);
  });

  test('a row that Tab has reached is the one that keys mean', async () => {
    const { id, key } = await newAgent(await server().desk());
    for (const headline of ['The first', 'The second'])
      await server().wake(key).delivered({ agent_id: id, headline });
    const { page } = await openAt(`/?agent=${id}`);
    await page.locator('article.row').nth(1).waitFor();
    const [first, second] = [0, 1].map((at) => page.locator('article.row').nth(at).getByRole('checkbox'));
    await page.locator('article.row a').first().focus();
    await page.keyboard.press('x');
    await expect.poll(() => first?.isChecked()).toBe(true);
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await expect.poll(() => second?.isChecked()).toBe(true);
  });

  test('where there are many inboxes, the way to a new producer is at the top', async () => {
    const desk = await server().desk();
    for (let made = 0; made < 7; made++) await newAgent(desk);
    const { page } = await openAt('/events');
    await page.getByRole('button', { name: 'Make a new producer' }).press('Enter');
    await focused(page.getByRole('form', { name: 'A new producer' }).getByLabel('Name'));
    await counted(page.getByRole('button', { name: 'Make a new producer' }), 1);
  });
});
