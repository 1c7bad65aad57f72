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
    const { page, trouble } = await openAt(`/agents/${id}`);
    await page.getByRole('button', { name: 'Edit the card' }).click();
    await page.getByLabel(/^What it does/).fill('Half a sentence');
    await page.close({ runBeforeUnload: true });
    await until('they are asked', () => trouble.some((line) => line.startsWith('dialog:')));
  });

  test('[D37] a draft of somebody who is logged out waits for them instead of asking again and again', async () => {
    const { id: agent, key } = await newAgent(await server().desk());
    const id = await server().wake(key).delivered({ agent_id: agent, headline: 'Who writes?' });
    const { page, context } = await openAt('/');
    await openDelivery(page, id);
    await page.keyboard.press('d');
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
    const quiet = page.getByRole('region', { name: 'Quiet hours' });
    const keep = quiet.getByRole('button', { name: 'Keep these' });
    await keep.press('Enter');
    await quiet.getByText(/^Nothing is sent to you between/).waitFor();
    await focused(keep);
    await quiet.getByRole('button', { name: 'No quiet hours' }).press('Enter');
    await quiet.getByText('None are set.').waitFor();
    await focusIsIn(quiet);
    const zone = page.getByLabel('Sittings and quiet hours are meant in');
    await zone.focus();
    await zone.selectOption('Europe/Vienna');
    await page.getByRole('region', { name: 'Time zone' }).getByText('Kept.').waitFor();
    await focused(zone);
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
