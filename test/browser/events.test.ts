import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { AkepClient, sampleEvent, WEBHOOK_SECRET } from '../support/akep.ts';
import { given, until } from '../support/until.ts';
import { furnishEvents } from './furnished.ts';
import { counted, isInSight, logIn, openDesk, openPage, openPalette, sharedBrowser } from './room.ts';

const browser = sharedBrowser();
const AKEP = { server: { env: { AKEP_WEBHOOK_SECRET: WEBHOOK_SECRET } } };

const inbox = (page: Page) => page.getByRole('region', { name: 'Inboxes' }).getByRole('listitem');

describe('events', () => {
  test('[K32] empty inboxes say so, and what arrives is shown at once', async () => {
    const { server, page, trouble } = await openDesk(browser(), AKEP);
    await page.locator('.list-header').waitFor();
    await openPalette(page);
    await page.keyboard.type('events');
    await page.keyboard.press('Enter');
    await inbox(page).getByText('nothing has arrived yet; no open wait').waitFor();
    await page.getByRole('link', { name: 'agent-01' }).click();
    await page.getByText('Nothing has arrived in this inbox.').waitFor();
    await furnishEvents(server);
    await page.getByText('The build of 4.2 has begun.').waitFor();
    expect(trouble).toEqual([]);
  });

  test('[K32] by keyboard from an agent to one event: its words, acknowledgement, cause and exact bytes', async () => {
    const { server, page, trouble } = await openDesk(browser(), AKEP);
    const event = await furnishEvents(server);
    await page.goto('/agents/agent-01');
    await page.getByRole('link', { name: 'Its events' }).press('Enter');
    await page.getByText('Too early.').waitFor({ state: 'detached' });
    await page.getByText('rejected by the agent').waitFor();
    await page.getByText('not acknowledged yet').waitFor();
    await page.getByRole('link', { name: 'The build of 4.2 is green' }).press('Enter');
    const exact = page.getByRole('region', { name: 'Exact bytes' });
    await exact.waitFor();
    const bytes = JSON.parse(given(await exact.textContent(), 'bytes'));
    expect(bytes).toMatchObject({ event_id: event, routing: { causation_id: 'evt_build_0001' } });
    expect(await exact.evaluate((e) => getComputedStyle(e).fontFamily)).toContain('IBM Plex Mono');
    await page.getByRole('link', { name: /evt_build_0001/ }).press('Enter');
    await page.getByText('It said: Too early.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { name: 'Events for agent-01' }).waitFor();
    expect(trouble).toEqual([]);
  });

  test('[K36] replay puts it at the end; what arrives waits behind a line and pushes nothing', async () => {
    const { server, page } = await openDesk(browser(), AKEP);
    const event = await furnishEvents(server);
    await page.goto(`/events/agent-01/${event}`);
    await page.getByRole('button', { name: 'Replay' }).press('Enter');
    await page.getByText('It is at the end of the inbox once more, at offset 3.').waitFor();
    await page.getByText(/^At offset 3 since/).waitFor();
    await page.goto('/events?agent=agent-01');
    await page.getByText('is green').first().waitFor();
    await counted(page.locator('.events > li'), 3);
    const first = () => page.locator('.events > li').first().textContent();
    const before = await first();
    const place = () => page.locator('.events').boundingBox();
    const stood = await place();
    await new AkepClient(server.url).sent(sampleEvent('evt_later_0001'));
    await page.getByRole('button', { name: /One new — show/ }).waitFor();
    expect(await first()).toBe(before);
    expect((await place())?.y).toBe(stood?.y);
    await page.setViewportSize({ width: 1280, height: 300 });
    await page.locator('#main').evaluate((main) => main.scrollTo(0, main.scrollHeight));
    await page.keyboard.press('u');
    await until('it is shown', async () => (await first())?.includes('hello AKEP'));
    expect(await isInSight(page.locator('.events > li').first())).toBe(true);
  });

  test('[K36] a reader sees everything and replays nothing', async () => {
    const { server, page, ...rest } = await openDesk(browser(), AKEP);
    const event = await furnishEvents(server);
    const reader = { email: 'rita@example.com', password: 'a sentence is a good password' };
    await (await server.desk()).request('POST', '/desk/people', { ...reader, name: 'Rita', role: 'reader' });
    const other = await openPage(browser(), server);
    await logIn(other, server, `/events/agent-01/${event}`, reader);
    await other.page.getByText('Replaying needs the role decider').waitFor();
    await counted(other.page.getByRole('button', { name: 'Replay' }), 0);
    await other.page.goto('/events');
    await other.page.getByRole('heading', { name: 'Producers' }).waitFor();
    await counted(other.page.getByRole('button', { name: 'Make it' }), 0);
    expect(rest.trouble).toEqual([]);
  });

  test('[K31] a producer is made, signs, is refused with the reason, rotated and revoked', async () => {
    const { server, page, trouble } = await openDesk(browser(), { ...AKEP, to: '/events' });
    await page.getByLabel('Name').fill('build-server');
    await page.getByRole('button', { name: 'Make it' }).click();
    const secret = given(await page.locator('.once .code').textContent(), 'secret');
    expect(secret).toMatch(/^whsec_/);
    const id = given(await page.locator('.once .mono').first().textContent(), 'id');
    await page.getByRole('button', { name: 'I have kept it' }).click();
    await counted(page.getByText(secret), 0);
    const one = page.locator('details.producer', { hasText: 'build-server' });
    await one.getByText('never seen').waitFor();

    const akep = new AkepClient(server.url);
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    const source = { producer_id: id, name: 'builds', type: 'system' };
    expect((await akep.send(sampleEvent('evt_good_0001', { source }), key)).status).toBe(202);
    const bad = await akep.send(sampleEvent('evt_bad_00001', { source, spec: 'akep.v0' }), key);
    expect(bad.status).toBeGreaterThanOrEqual(400);
    await page.reload();
    await one.getByText('last seen').waitFor();
    await one.locator('summary').press('Enter');
    await one.getByRole('region', { name: 'Refused events' }).getByText('evt_bad_00001').waitFor();
    expect(await one.locator('.refusal').first().textContent()).toMatch(/^4\d\d: \S/);

    await one.getByRole('button', { name: 'Rotate, with overlap' }).click();
    expect(await one.locator('.once .code').textContent()).not.toBe(secret);
    await one.getByRole('button', { name: 'I have kept it' }).click();
    const old = one.locator('li', { hasText: 'until' });
    await old.getByRole('button', { name: 'Revoke' }).click();
    await old.getByRole('button', { name: 'Revoke' }).click();
    await one.getByText('revoked').waitFor();
    const { status, text } = await akep.send(sampleEvent('evt_good_0002', { source }), key);
    expect([status, text]).toEqual([400, expect.stringContaining('No signature is valid')]);
    expect(trouble).toEqual([]);
  });

  test('an address of no event, and one of no agent, say so', async () => {
    const { page } = await openDesk(browser(), { to: '/events/agent-01/evt_nothing_here' });
    await page.getByText('There is no event with this id in this inbox.').waitFor();
    await page.goto('/events?agent=nobody');
    await page.getByText('There is no agent with this name.').waitFor();
  });
});
