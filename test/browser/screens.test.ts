import type { Locator } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { AkepClient } from '../support/akep.ts';
import { AGENT } from '../support/server.ts';
import { given, until } from '../support/until.ts';
import { overflow } from './looking.ts';
import { acceptAgent, counted, gate, holds, openDesk, sharedBrowser } from './room.ts';
import { askAgent } from './task-laptop.ts';

const browser = sharedBrowser();
const AT_ONCE = { server: { env: { LANTERNROOM_UNDO_SECONDS: '0' } } };

describe('the other screens', () => {
  test('on paper all of a delivery is there, and nothing that is only for the hand', async () => {
    const { server, page } = await openDesk(browser(), { look: { width: 790, height: 1100 } });
    const log = Array.from({ length: 300 }, (_, i) => `line ${i} of the log`).join('\n');
    const id = await server.wake().delivered({
      headline: 'A long log',
      details: { log: `\`\`\`\n${log}\n\`\`\`` },
    });
    await page.goto(`/d/${id}`);
    await page.getByText('line 299 of the log').waitFor();
    const isCut = () =>
      [...document.querySelectorAll('.code, .wide, .detail, .main')].filter(
        ({ scrollHeight, clientHeight, scrollWidth, clientWidth }) =>
          scrollHeight > clientHeight + 1 || scrollWidth > clientWidth + 1,
      ).length;
    expect(await page.evaluate(isCut)).toBeGreaterThan(0);
    await page.emulateMedia({ media: 'print' });
    expect(await page.evaluate(isCut)).toBe(0);
    await counted(page.locator('button:visible, .back-link:visible'), 0);
    await page.goto('/audit');
    await page.getByText('delivery.accepted').first().waitFor();
    expect(await page.evaluate(isCut)).toBe(0);
    // The sentence that says which decisions these are is whole.
    await page.goto('/history');
    await page.locator('.history-filter', { hasText: 'Of' }).locator('select:visible').waitFor();
  });

  test('a screen begins at its top, also when the one before was still scrolling', async () => {
    const { server, page } = await openDesk(browser(), { look: { height: 400 } });
    const desk = await server.desk();
    for (let n = 10; n < 30; n++)
      await desk.request('POST', '/desk/agents', { agent_id: `agent-${n}`, tier: 'test' });
    await page.goto('/audit');
    await page.getByText('agent.added').first().waitFor();
    await page.locator('#main').focus();
    await page.keyboard.press('PageDown');
    for (const key of ['g', 'a']) await page.keyboard.press(key);
    await page.getByRole('link', { name: 'agent-29' }).waitFor();
    // As long as a smooth scroll lasts at the most, in frames: it goes on with them.
    const places = await page.evaluate(async () => {
      const seen: (number | undefined)[] = [];
      for (let frame = 0; frame < 60; frame++) {
        await new Promise(requestAnimationFrame);
        seen.push(document.getElementById('main')?.scrollTop);
      }
      return seen;
    });
    expect(new Set(places)).toEqual(new Set([0]));
  });

  test('a value keeps its line breaks, and a date in a table stays in one piece', async () => {
    const { server, page } = await openDesk(browser());
    const booked = ['2026-11-03', '2026-11-04'].map((day) => ({
      day,
      why: 'Because it was said so. '.repeat(9),
    }));
    const id = await server.wake().delivered({
      headline: 'Where to?',
      details: { address: 'Importer team\n4th floor\n10115 Berlin', booked },
    });
    await page.goto(`/d/${id}`);
    const lines = (text: string) =>
      page.getByText(text).evaluate((element) => {
        const range = document.createRange();
        range.selectNodeContents(element);
        return new Set([...range.getClientRects()].map(({ top }) => top)).size;
      });
    // Until the part that draws it has been fetched, it stands there as it was written.
    await page.locator('.markdown').getByText('4th floor').waitFor();
    expect(await lines('4th floor')).toBe(3);
    expect(await lines('2026-11-03')).toBe(1);
  });

  test('what is nested deeply has room for its words on a phone', async () => {
    const { server, page } = await openDesk(browser(), { look: { width: 360, height: 740, isTouch: true } });
    let details: object = { place: 'The innermost' };
    for (let depth = 0; depth < 12; depth++) details = { inside: [details, 'Beside it'] };
    const id = await server.wake().delivered({ headline: 'Nested', details });
    await page.goto(`/d/${id}`);
    const closed = page.locator('#detail .fold:not([open]) > summary:visible');
    await page.getByText('Inside').first().waitFor();
    while ((await closed.count()) > 0) await closed.first().press('Enter');
    const width = (locator: Locator) => locator.evaluate((element) => element.clientWidth);
    expect(await width(page.getByRole('definition').filter({ hasText: /^The innermost$/ }))).toBeGreaterThan(
      80,
    );
    expect(await overflow(page)).toEqual([]);
  });

  test('over a slow line the page says that the desk is on its way, until it is there', async () => {
    const { page, trouble } = await openDesk(browser());
    const { opened, open } = gate();
    await page.route('**/assets/index-*.js', async (route) => {
      await opened;
      await route.continue();
    });
    await page.reload({ waitUntil: 'commit' });
    const onItsWay = page.getByText('The desk is on its way…');
    await onItsWay.waitFor();
    open();
    await page.getByRole('heading', { level: 1 }).first().waitFor();
    await onItsWay.waitFor({ state: 'hidden' });
    expect(trouble).toEqual([]);
  });

  test('over a slow line a delivery says that the rest is on its way, and nothing moves when it comes', async () => {
    const { server, page, trouble } = await openDesk(browser());
    await acceptAgent(server);
    const id = await server.wake().delivered({ headline: 'Slow to come', details: 'The rest.' });
    await page.reload();
    const { opened, open } = gate();
    await page.route(`**/desk/deliveries/${id}`, async (route) => {
      await opened;
      await route.continue();
    });
    await page.locator('article.row').filter({ hasText: 'Slow to come' }).getByRole('link').click();
    const detail = page.getByRole('article', { name: 'Delivery' });
    await detail.getByText('One moment…').waitFor();
    await detail.getByRole('region', { name: 'About this delivery' }).getByText(AGENT.id).waitFor();
    const place = () => detail.getByRole('heading', { name: 'Slow to come' }).boundingBox();
    const before = await place();
    open();
    await detail.getByText('The rest.').waitFor();
    expect(await place()).toEqual(before);
    await counted(detail.getByText('One moment…'), 0);
    expect(trouble).toEqual([]);
  });

  test('an unknown address answers a person with a page, and a program with JSON', async () => {
    const { server, page, trouble } = await openDesk(browser(), { to: '/nowhere' });
    await page.getByRole('heading', { name: 'There is nothing at this address.' }).waitFor();
    await page.getByRole('link', { name: 'To the inbox' }).click();
    await page.locator('.list-header').waitFor();
    const reply = await fetch(`${server.url}/nowhere`);
    expect([reply.status, await reply.json()]).toMatchObject([404, { error: { code: 'not_found' } }]);
    expect(trouble).toEqual([]);
  });

  test('[D19][D20] an owner makes and revokes keys, and says where answers may go', async () => {
    const { page, trouble } = await openDesk(browser(), { to: `/agents/${AGENT.id}` });
    const keys = page.getByRole('region', { name: 'Keys' });
    await keys.getByRole('button', { name: 'Another test key' }).click();
    const made = await keys.locator('.once .code').textContent();
    expect(made).toMatch(/^wk_test_\w+$/);
    await keys.getByRole('button', { name: 'I have kept it' }).click();
    await counted(keys.locator('.once'), 0);
    const one = keys.locator('li', { hasText: given(made, 'key').slice(-4) });
    await one.getByRole('button', { name: 'Revoke' }).click();
    await one.getByRole('button', { name: 'Revoke' }).click();
    await one.getByText('revoked').waitFor();

    const part = page.getByRole('region', { name: 'Callbacks' });
    const address = 'https://agent.example.com/hooks';
    await part.getByLabel('address').fill(address);
    await page.keyboard.press('Enter');
    await part.getByText(address, { exact: true }).waitFor();
    await holds(part.getByLabel('Another address'), '');
    // What was refused can be mended: it stays.
    await part.getByLabel('Another address').fill('https://*.example.com');
    await page.keyboard.press('Enter');
    await part.getByText(/Replace the \*/).waitFor();
    await holds(part.getByLabel('Another address'), 'https://*.example.com');
    const line = part.locator('li', { hasText: address });
    await line.getByRole('button', { name: 'Remove' }).click();
    await line.getByRole('button', { name: 'Remove' }).click();
    await part.getByText('Removed.').waitFor();
    await counted(line, 0);
    expect(trouble).toEqual([]);
  });

  test('[D4] a token for scripts is shown once, and revoked', async () => {
    const { server, page, trouble } = await openDesk(browser(), { to: '/settings/security' });
    const part = page.getByRole('region', { name: 'Tokens for scripts' });
    await part.getByLabel('What it is for').fill('Nightly report');
    await page.keyboard.press('Enter');
    const token = given(await part.locator('.once .code').textContent(), 'token');
    const headers = { authorization: `Bearer ${token}` };
    const status = async () => (await fetch(`${server.url}/desk/session`, { headers })).status;
    expect(await status()).toBe(200);
    const line = part.locator('li', { hasText: 'Nightly report' });
    await line.getByRole('button', { name: 'Revoke' }).click();
    await line.getByRole('button', { name: 'Revoke' }).click();
    await part.locator('li[data-over]', { hasText: 'Nightly report' }).waitFor();
    expect(await status()).toBe(401);
    expect(trouble).toEqual([]);
  });

  test('[D50] a number of the letter leads to its list, which says what of it is shown', async () => {
    const { server, page, trouble } = await openDesk(browser(), AT_ONCE);
    await acceptAgent(server);
    const desk = await server.desk();
    await desk.decide(await server.wake().delivered({ headline: 'Counted' }), { status: 'approved' });
    // Far from where the person's weeks begin, which is what they chose in the settings.
    const cdp = await page.context().newCDPSession(page);
    await cdp.send('Emulation.setTimezoneOverride', { timezoneId: 'America/Los_Angeles' });
    await page.goto('/insights?week=2026-W20');
    await page.getByText('11 May to 17 May').waitFor();
    await cdp.send('Emulation.setTimezoneOverride', { timezoneId: '' });
    await page.goto('/insights');
    await page.getByText('The busiest day was').waitFor();
    await page.evaluate(() => Object.assign(window, { isSamePage: true }));
    await page
      .locator('.chart', { hasText: 'What was decided' })
      .getByRole('link', { name: /^approved/ })
      .click();
    await page.getByText(/^Only what was approved from /).waitFor();
    await page.getByText('Counted').waitFor();
    expect(await page.evaluate(() => 'isSamePage' in window)).toBe(true);
    await page.getByRole('link', { name: 'Show all' }).click();
    await page.getByText(/^Only what was approved/).waitFor({ state: 'hidden' });
    await page.getByText('Counted').waitFor();
    expect(trouble).toEqual([]);
  });

  test('[D41] agents: last seen, what waits, how long answers take, and how the callbacks are', async () => {
    const { server, page, trouble } = await openDesk(browser(), AT_ONCE);
    await acceptAgent(server);
    const desk = await server.desk();
    await page.goto('/agents');
    const line = page.locator('.agents > li', { hasText: 'agent-01' });
    await line.getByText('no answer yet').waitFor();
    await line.getByText('no callbacks').waitFor();
    await desk.request('PUT', '/desk/agents/agent-01/callbacks', {
      callbacks: ['https://agent.example.com'],
    });
    await desk.decide(await server.wake().delivered(), { status: 'approved' });
    await server.wake().delivered();
    await line.getByText(/half of the answers within \d+ \w+/).waitFor();
    await line.getByText('one delivery waiting').waitFor();
    await line.getByText('callbacks are fine').waitFor();
    const names = Array.from({ length: 100 }, (_, n) => `many-${n}`);
    await Promise.all(names.map((agent_id) => desk.request('POST', '/desk/agents', { agent_id })));
    await page.getByRole('searchbox', { name: 'Find an agent' }).fill('ANY-42');
    await counted(page.locator('.agents > li'), 1);
    await page.getByRole('link', { name: 'many-42' }).waitFor();
    await page.getByRole('searchbox', { name: 'Find an agent' }).fill('');
    await page.getByRole('button', { name: 'More agents' }).click();
    await counted(page.locator('.agents > li'), 101);
    expect(trouble).toEqual([]);
  });

  test('[D41] agents: the form below the list comes with it, and is pushed by nothing', async () => {
    const { page } = await openDesk(browser());
    const { opened, open } = gate();
    await page.route(/\/desk\/agents(\?|$)/, async (route) => {
      await opened;
      await route.continue();
    });
    await page.getByRole('link', { name: 'Agents' }).click();
    await page.getByText('One moment…').waitFor();
    await counted(page.getByRole('heading', { name: 'A new agent' }), 0);
    open();
    await page.getByRole('link', { name: AGENT.id }).waitFor();
    await page.getByRole('heading', { name: 'A new agent' }).waitFor();
    await page.getByRole('link', { name: AGENT.id }).click();
    await page.getByText(/deliveries an hour, .* at once, all of them left/).waitFor();
  });

  test('[D13] who decided is one sentence, not words spread over the pane', async () => {
    const { server, page } = await openDesk(browser(), AT_ONCE);
    const id = await server.wake().delivered({ headline: 'Decided' });
    await (await server.desk()).decide(id, { status: 'approved' });
    await page.goto(`/d/${id}`);
    const line = page.locator('.state-line', { hasText: 'Approved by owner at' });
    await line.waitFor();
    const gap = (element: HTMLElement) => {
      const name = element.querySelector('bdi')?.getBoundingClientRect();
      return (name?.left ?? 999) - element.getBoundingClientRect().left;
    };
    expect(await line.evaluate(gap)).toBeLessThan(150);
  });

  test('one part that could not be loaded can be asked for again, in its place', async () => {
    const { server, page } = await openDesk(browser());
    await server.wake().delivered({ headline: 'Counted' });
    const task = await askAgent(server, 'Something');
    const error = { code: 'internal', message: 'Internal error.' };
    for (const [place, asked, found] of [
      ['/insights', '**/desk/insights*', 'came this week'],
      [`/agents/${AGENT.id}`, `**/desk/agents/${AGENT.id}`, 'Rotate, with overlap'],
      [`/tasks/${task}`, `**/desk/tasks/${task}*`, 'Something'],
    ] as const) {
      await page.route(asked, (route) => route.fulfill({ status: 500, json: { error } }));
      await page.goto(place);
      await page.getByText('The server made a mistake and noted it.').waitFor();
      await page.unroute(asked);
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByText(found).first().waitFor();
    }
  });

  test('[D52] audit: what the last verification found is there on entry', async () => {
    const { page, trouble } = await openDesk(browser(), { to: '/audit' });
    await page.getByText('The chain has not been verified since the server started.').waitFor();
    await page.getByRole('button', { name: 'Verify now' }).click();
    const found = page.getByText(/^Chain verified at \d\d:\d\d, \d+ entries\.$/);
    await found.waitFor();
    const words = await found.textContent();
    await page.goto('/');
    await page.goto('/audit');
    await found.waitFor();
    expect(await found.textContent()).toBe(words);
    expect(trouble).toEqual([]);
  });

  test('[D61] audit: a filter looks back by itself, says how far, and stops only at the first line', async () => {
    const { page, trouble } = await openDesk(browser());
    // A long ledger, as the server pages it: nothing found in the newest lines, one in the oldest.
    const entry = { at: '2026-01-01T00:00:00Z', actor: 'system', subject: 'x', data: {}, hash: 'abc' };
    const far = gate();
    await page.route('**/desk/audit?*', async (route) => {
      const cursor = new URL(route.request().url()).searchParams.get('cursor');
      if (cursor === '20001') await far.opened;
      const found = cursor === '20001' ? [{ ...entry, seq: 7, action: 'rare.thing' }] : [];
      const next = cursor === null ? '40001' : cursor === '40001' ? '20001' : null;
      await route.fulfill({
        json: { entries: found, next_cursor: next, looked_to: Number(next ?? 1), verified: null },
      });
    });
    await page.goto('/audit?action=rare.thing');
    await page.getByText(/^No line matches so far\. Looked back to line 20.001…$/).waitFor();
    far.open();
    await page.getByRole('cell', { name: 'rare.thing' }).waitFor();
    await counted(page.getByRole('button', { name: 'Older lines' }), 0);
    expect(trouble).toEqual([]);
  });

  test('[D58] an agent’s page tells what it takes in, with filters and what they do', async () => {
    const { server, page, trouble } = await openDesk(browser(), { to: '/agents/agent-01' });
    const part = page.getByRole('region', { name: 'Inbox and subscriptions' });
    await part.getByText('Every event').waitFor();
    const akep = new AkepClient(server.url);
    const made = await akep.request('POST', '/akep/subscriptions', {
      spec: 'akep.v1',
      sink: 'agent-01',
      delivery: { type: 'poll' },
      event_types: ['tool.failed'],
      filters: { 'knowledge.kind': 'observation' },
      security: { accepted_source_names: ['ci'] },
      capabilities: { resume_policies: ['append_only'] },
    });
    expect(made.status).toBe(201);
    const line = part.locator('.subscriptions > li', { hasText: 'tool.failed' });
    await line.getByText('knowledge.kind is "observation"').waitFor();
    await line.getByText('it comes from ci').waitFor();
    await line.getByText(/Events are noted for its runs and wake none/).waitFor();
    expect(trouble).toEqual([]);
  });

  test('switching single keys off holds from the first moment, and goes back when it is refused', async () => {
    const { page } = await openDesk(browser(), { to: '/settings/keys' });
    const box = page.getByRole('checkbox', { name: /^Single keys do things/ });
    const { opened, open } = gate();
    await page.route('**/desk/preferences', async (route) => {
      if (route.request().method() === 'PUT') await opened;
      await route.continue();
    });
    await box.waitFor();
    // Looked at in the very task of the click: a frame later it would be too late to see it jump back.
    const atOnce = () =>
      box.evaluate((input: HTMLInputElement) => {
        input.click();
        return input.checked;
      });
    expect(await atOnce()).toBe(false);
    open();
    await page.getByText('Kept.').waitFor();
    const is = (state: boolean) => expect.poll(() => box.isChecked(), { timeout: 120_000 }).toBe(state);
    await is(false);
    await page.reload();
    await box.waitFor();
    await is(false);
    await page.unrouteAll({ behavior: 'wait' });
    await page.route('**/desk/preferences', (route) =>
      route.request().method() === 'PUT' ? route.abort() : route.continue(),
    );
    expect(await atOnce()).toBe(true);
    await page.getByText('cannot be reached').waitFor();
    await is(false);
  });

  test('sit: a verdict key pressed before the delivery has come is kept, chosen when it comes, and sends nothing', async () => {
    const { server, page } = await openDesk(browser());
    await acceptAgent(server);
    const id = await server.wake().delivered({ headline: 'Slow to come' });
    const desk = await server.desk();
    const draft = { mode: null, feedback: 'Begun yesterday.', edited_content: null };
    await desk.request('PUT', `/desk/deliveries/${id}/draft`, draft);
    const { opened, open } = gate();
    await page.route(`**/desk/deliveries/${id}`, async (route) => {
      await opened;
      await route.continue();
    });
    await page.goto('/sit');
    await page.getByText('1 of 1').waitFor();
    await page.keyboard.press('r');
    await page.getByText('Rejected is chosen as soon as it is here.').waitFor();
    open();
    await page.getByRole('radio', { name: 'Reject', checked: true }).waitFor();
    await holds(page.getByLabel('Why not?'), 'Begun yesterday.');
    await until('the box has the focus', () =>
      page.getByLabel('Why not?').evaluate((box) => box === document.activeElement),
    );
    expect((await desk.detail(id)).state).toBe('pending');
  });
});
