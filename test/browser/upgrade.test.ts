import { describe, expect, test } from 'vitest';
import { Server } from '../support/server.ts';
import { until } from '../support/until.ts';
import { overflow, settled, watch } from './looking.ts';
import {
  acceptAgent,
  counted,
  holds,
  logIn,
  openDelivery,
  openDesk,
  openPage,
  openPalette,
  row,
  sharedBrowser,
} from './room.ts';

const browser = sharedBrowser();

describe('what the world does to an open page', () => {
  test('an upgrade of the server under it: parts that are gone load the new page, and no word is lost', async () => {
    const { server, page } = await openDesk(browser());
    await acceptAgent(server);
    const id = await server.wake().delivered({ headline: 'Before the upgrade', details: 'A text.' });
    await openDelivery(page, id);
    await page.keyboard.press('d');
    await page.getByLabel('What should be different?').fill('Half a thought');
    // What a new version does: other names for every part, and a page that names them.
    await page.route('**/assets/Editor*', (route) => route.fulfill({ status: 404, body: '' }));
    await page.route(
      (url) => url.pathname === '/',
      (route) =>
        route.fulfill({ contentType: 'text/html', body: '<script src="/assets/index-new.js"></script>' }),
    );
    const loaded = page.waitForEvent('load');
    await page.getByRole('button', { name: 'Edit it myself' }).click();
    await loaded;
    await holds(page.getByLabel('What should be different?'), 'Half a thought');
  });

  test('a part that cannot be fetched leaves something to read and to write in', async () => {
    const { server, page, trouble } = await openDesk(browser());
    await acceptAgent(server);
    const id = await server.wake().delivered({ headline: 'Plain', details: 'Some **words** to read.' });
    await page.route(/\/assets\/(Markdown|Editor)/, (route) => route.abort());
    await openDelivery(page, id);
    await page.getByText('Some **words** to read.').waitFor();
    await page.keyboard.press('d');
    await page.getByRole('button', { name: 'Edit it myself' }).click();
    await page.getByLabel('The text, to be changed').fill('Other words.');
    await page.getByText('"edited_content": "Other words."').waitFor({ state: 'attached' });
    expect(trouble).toEqual([]);
  });

  test('[D37] a screen that cannot be fetched says so in its place, and no written word is lost', async () => {
    const { server, page } = await openDesk(browser());
    await acceptAgent(server);
    const id = await server.wake().delivered({ headline: 'Half written' });
    let refused = 0;
    await page.route('**/assets/HistoryScreen*', (route) => {
      refused++;
      return route.abort();
    });
    await openDelivery(page, id);
    await page.keyboard.press('a');
    await page.route('**/draft', (route) => route.abort());
    const field = page.getByLabel('Anything for next time?');
    await field.fill('Only here.');
    await page.getByText('Not kept as a draft yet').waitFor();
    await page.getByRole('link', { name: 'History' }).click();
    await page.getByText('This screen could not be fetched').waitFor();
    await page.getByRole('link', { name: 'Inbox', exact: true }).click();
    await row(page, 'Half written').getByRole('link').click();
    await holds(field, 'Only here.');
    const before = refused;
    await page.getByRole('link', { name: 'History' }).click();
    await until('it has been tried on the way and once more there', async () => refused >= before + 2);
    await page.unroute('**/assets/HistoryScreen*');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'History' }).waitFor();
  });

  test('the other screens are here before they are gone to, also when the network no longer is', async () => {
    const { page, context } = await openDesk(browser());
    const last = page.waitForResponse(/assets\/SettingsScreen/);
    await last;
    await context.setOffline(true);
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('heading', { name: 'Settings' }).waitFor();
  });

  test('whoever has read the documents is still given the desk when the network is gone', async () => {
    const server = await Server.start();
    await acceptAgent(server);
    await server.wake().delivered({ headline: 'Kept for later' });
    const watched = await openPage(browser(), server, { hasWorker: true });
    await logIn(watched, server);
    const { page, context } = watched;
    await row(page, 'Kept for later').waitFor();
    await until('the worker has the list', () =>
      page.evaluate(async () => (await caches.match('/desk/deliveries?limit=100')) !== undefined),
    );
    await page.goto('/docs/errors');
    await context.setOffline(true);
    await page.goto('/');
    await row(page, 'Kept for later').waitFor();
  });

  test('a hash that does not decode does not stop the page', async () => {
    const { page } = await openDesk(browser(), { to: '/#100%' });
    await page.getByRole('heading', { level: 1 }).first().waitFor();
  });

  test('a draft that cannot be saved is reported, saved when the server is back, and saved on leaving', async () => {
    const { server, page } = await openDesk(browser());
    await acceptAgent(server);
    const id = await server.wake().delivered({ headline: 'Drafted' });
    await openDelivery(page, id);
    await page.route('**/draft', (route) => route.abort());
    await page.keyboard.press('a');
    const field = page.getByLabel('Anything for next time?');
    await field.fill('Only here.');
    await page.getByText('Not kept as a draft yet').waitFor();
    await page.unroute('**/draft');
    await page.getByText('Kept as a draft while you write.').waitFor();
    const draft = async () =>
      (
        await (
          await server.desk()
        ).request<{ draft: { feedback: string } | null }>('GET', `/desk/deliveries/${id}`)
      ).json.draft?.feedback;
    expect(await draft()).toBe('Only here.');
    await field.fill('Only here, and then gone.');
    await page.goto('/history');
    await until(
      'what was written last is kept too',
      async () => (await draft()) === 'Only here, and then gone.',
    );
  });

  test('a long text in a script of many bytes is kept and sent', async () => {
    const { server, page } = await openDesk(browser());
    await acceptAgent(server);
    const details = '這是一個很長的段落。'.repeat(4000);
    const id = await server.wake().delivered({ headline: 'Long', details });
    const desk = await server.desk();
    const draft = { mode: 'redirected', feedback: '好', edited_content: `${details}完` };
    await desk.request('PUT', `/desk/deliveries/${id}/draft`, draft);
    await openDelivery(page, id);
    await holds(page.getByLabel('What should be different?'), '好');
    await page.getByLabel('What should be different?').fill('很好');
    await page.locator('.send').click();
    await until('it is taken', async () => (await desk.detail(id)).state !== 'pending');
    await counted(page.getByText('was not answered'), 0);
  });

  test('details of a mebibyte open at once, say what is left out, and show it when asked', async () => {
    const { server, page } = await openDesk(browser());
    await acceptAgent(server);
    const list = '- an item with *words* in it\n'.repeat(30_000);
    const items = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`key_${n}`, n]));
    const text = await server.wake().delivered({ headline: 'A long list', details: `${list}The very end.` });
    const object = await server.wake().delivered({ headline: 'Many keys', details: items });
    await openDelivery(page, text);
    const more = page.getByRole('button', { name: /^Show more: [\d\s]+ characters are not shown yet$/ });
    await more.click();
    await page.getByText('The very end.').waitFor();
    await openDelivery(page, object);
    await page.getByRole('button', { name: /^Show more: 19\s900 entries are not shown yet$/ }).click();
    await page.getByText('Key 399', { exact: true }).waitFor();
  });

  test('a name of a hundred letters makes no screen wider than it is, and hides no summary', async () => {
    const { server, page } = await openDesk(browser(), { look: { width: 360, height: 740 } });
    watch(page);
    const desk = await server.desk();
    const agent_id = `agent-${'x'.repeat(110)}`;
    const { json } = await desk.request<{ key: string }>('POST', '/desk/agents', { agent_id, tier: 'test' });
    await server.wake(json.key).delivered({ agent_id, headline: 'Of the long name', summary: 'A summary.' });
    for (const place of ['/', '/history', '/tasks', '/agents', '/events']) {
      await page.goto(place);
      await settled(page);
      expect([place, ...(await overflow(page))]).toEqual([place]);
    }
    await page.goto('/');
    await row(page, 'Of the long name').waitFor();
    await openPalette(page);
    await page.keyboard.type('Of the long');
    await page.getByRole('option').first().waitFor();
    const wide = (dialog: HTMLElement) => dialog.scrollWidth - dialog.clientWidth;
    expect(await page.getByRole('dialog').evaluate(wide)).toBe(0);
    await page.keyboard.press('Escape');
    const summary = row(page, 'Of the long name').getByText('A summary.');
    const edge = await row(page, 'Of the long name').boundingBox();
    const box = await summary.boundingBox();
    expect((box?.x ?? 999) + (box?.width ?? 0)).toBeLessThan((edge?.x ?? 0) + (edge?.width ?? 0));
  });

  test('what is written from right to left stands on that side, lists and quotations too', async () => {
    const { server, page } = await openDesk(browser());
    await acceptAgent(server);
    const details = 'نص عريض\n\n- واحد\n- اثنان\n\n> اقتباس\n\nAnd this from the left.';
    const id = await server.wake().delivered({ headline: 'Two directions', details });
    await openDelivery(page, id);
    const markdown = page.locator('.markdown');
    await markdown.waitFor();
    const side = (selector: string) =>
      markdown.locator(selector).evaluate((element) => getComputedStyle(element).direction);
    expect([await side('ul'), await side('blockquote')]).toEqual(['rtl', 'rtl']);
    // Where the words begin, measured: at the far end of the line, or at its beginning.
    const fromRight = (paragraph: HTMLElement) => {
      const range = document.createRange();
      range.selectNodeContents(paragraph);
      return Math.round(paragraph.getBoundingClientRect().right - range.getBoundingClientRect().right);
    };
    expect(await markdown.locator('> p').first().evaluate(fromRight)).toBe(0);
    expect(await markdown.locator('> p').last().evaluate(fromRight)).toBeGreaterThan(50);
  });

  test('the palette shows what hides in a headline, and searches for what has no name here', async () => {
    const { server, page } = await openDesk(browser());
    await acceptAgent(server);
    await server.wake().delivered({ headline: 'in\u200bvoice', details: 'about a zebra' });
    await page.reload();
    await row(page, 'voice').waitFor();
    await openPalette(page);
    await page.keyboard.type('voice');
    await page.getByRole('option').getByText('U+200B').waitFor();
    await page.keyboard.press('Control+a');
    await page.keyboard.type('zebra');
    await page.getByRole('option', { name: 'Search for “zebra”' }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/q=zebra/);
    await row(page, 'voice').waitFor();
  });
});
