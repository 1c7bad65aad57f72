import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { Server } from '../support/server.ts';
import { settled, watch } from './looking.ts';
import {
  acceptAgent,
  counted,
  focused,
  holds,
  openDelivery,
  openDesk,
  row,
  send,
  sharedBrowser,
} from './room.ts';

const browser = sharedBrowser();
const AT_ONCE = { env: { LANTERNROOM_UNDO_SECONDS: '0' } };

/** The server goes and comes back at the same address; `meanwhile` happens before the page hears of it. */
async function comeBack(server: Server, page: Page, meanwhile: (again: Server) => Promise<unknown>) {
  const { port } = new URL(server.url);
  await page.route('**/desk/stream', (route) => route.abort());
  await server.terminate();
  const again = await Server.start({ folder: server.folder, args: ['--port', port] });
  await meanwhile(again);
  const stands = page.waitForResponse((reply) => reply.url().endsWith('/desk/stream'));
  const looked = stands.then(() => page.waitForResponse((reply) => reply.url().endsWith('/desk/overview')));
  await page.unroute('**/desk/stream');
  await looked;
  return again;
}

describe('the live line', () => {
  test('[D17] many answers of somebody else at once: every row says so, and so does the one that is open', async () => {
    const { server, page, trouble } = await openDesk(browser(), { server: AT_ONCE });
    await acceptAgent(server);
    const desk = await server.desk();
    const ids: string[] = [];
    for (let n = 0; n < 40; n++) ids.push(await server.wake().delivered({ headline: `Number ${n}` }));
    const last = ids.at(-1) ?? '';
    await openDelivery(page, last);
    await row(page, 'Number 39').waitFor();
    await Promise.all(ids.map((id) => desk.decide(id, { status: 'approved' })));
    await page.locator('.state-line').getByText('Approved by').waitFor();
    const rows = page.locator('article.row', { hasText: 'Number' });
    await expect
      .poll(
        () => rows.evaluateAll((all) => all.filter((one) => !one.textContent?.includes('approved')).length),
        {
          timeout: 120_000,
        },
      )
      .toBe(0);
    expect(trouble).toEqual([]);
  });

  test('[D88] an open delivery of a thread tells its place, leads to the others, and stays true while they change', async () => {
    const { server, page, trouble } = await openDesk(browser(), { server: AT_ONCE });
    await acceptAgent(server);
    const thread_id = 'close-of-q3';
    const first = await server.wake().delivered({ headline: 'Step one', thread_id });
    await server.wake().delivered({ headline: 'Another matter', thread_id: 'something-else' });
    const second = await server.wake().delivered({ headline: 'Step two', thread_id });
    await openDelivery(page, second);
    const strip = page.getByRole('region', { name: 'About this delivery' });
    await strip.getByText('2nd of 2 in thread').waitFor();
    await counted(strip.getByRole('link', { name: 'the one after' }), 0);
    await server.wake().delivered({ headline: 'Step three', thread_id });
    await strip.getByText('2nd of 3 in thread').waitFor();
    const others = page.getByRole('region', { name: 'Its thread' }).getByRole('listitem');
    await others.filter({ hasText: 'Step three' }).waitFor();
    await (await server.desk()).decide(first, { status: 'rejected', feedback: 'No.' });
    await others.filter({ hasText: 'Step one' }).getByText('Question, rejected').waitFor();
    expect(await others.filter({ hasText: 'Step two' }).textContent()).toBe('Step twoThis one');
    await counted(others.filter({ hasText: 'Another matter' }), 0);
    await strip.getByRole('link', { name: 'the one before' }).click();
    await page.getByRole('heading', { name: 'Step one' }).waitFor();
    await strip.getByText('1st of 3 in thread').waitFor();
    expect(trouble).toEqual([]);
  });

  test('[D17] after a lost line nothing moves: what came first waits behind its line, what was answered says so', async () => {
    const { server, page } = await openDesk(browser(), { server: AT_ONCE });
    await acceptAgent(server);
    const answered = await server
      .wake()
      .delivered({ headline: 'Waits, and is answered', timeout_seconds: 7200 });
    await server.wake().delivered({ headline: 'Waits on', timeout_seconds: 7300 });
    await page.reload();
    await row(page, 'Waits on').waitFor();
    await comeBack(server, page, async (again) => {
      await again.wake().delivered({ headline: 'Due first of all', timeout_seconds: 600 });
      await (await again.desk()).decide(answered, { status: 'approved' });
    });
    await row(page, 'Waits, and is answered')
      .getByText(/approved|Approved/)
      .waitFor();
    await page.getByRole('button', { name: 'One new — show' }).waitFor();
    await counted(row(page, 'Due first of all'), 0);
    await page.keyboard.press('u');
    await row(page, 'Due first of all').waitFor();
  });

  test('a sitting that loses its line goes on where it was, and skips nothing', async () => {
    const { server, page } = await openDesk(browser(), { server: AT_ONCE });
    watch(page);
    await acceptAgent(server);
    for (const name of ['First', 'Second', 'Third', 'Fourth'])
      await server.wake().delivered({ headline: `${name} to sit with`, timeout_seconds: undefined });
    await page.goto('/sit');
    for (const name of ['First', 'Second']) {
      await page.getByRole('heading', { name: `${name} to sit with` }).waitFor();
      await page.getByRole('radio', { name: 'Approve' }).waitFor();
      await page.keyboard.press('a');
      await page.locator('.send').waitFor();
      const taken = page.waitForResponse((reply) => reply.url().endsWith('/decision'));
      await page.keyboard.press(send);
      await taken;
    }
    await page.getByRole('heading', { name: 'Third to sit with' }).waitFor();
    await comeBack(server, page, async () => {});
    await settled(page);
    await page.getByRole('heading', { name: '3 of 4' }).waitFor();
    await page.getByRole('heading', { name: 'Third to sit with' }).waitFor();
  });

  test('a long sitting counts everything that waits', async () => {
    const { server, page } = await openDesk(browser(), { server: AT_ONCE });
    await acceptAgent(server);
    const all = Array.from({ length: 230 }, (_, n) =>
      server.wake().delivered({ headline: `One of many ${n}` }),
    );
    await Promise.all(all);
    await page.goto('/sit');
    await page.getByRole('heading', { name: /^1 of 230 / }).waitFor();
  });

  test('[D83] a filter finds what lies behind thousands that do not match, here and further down', async () => {
    const { server, page } = await openDesk(browser());
    await acceptAgent(server);
    const one = (over: object) => server.wake().delivered({ timeout_seconds: undefined, ...over });
    const twoThousand = async () => {
      for (let round = 0; round < 42; round++)
        await Promise.all(Array.from({ length: 50 }, () => one({ headline: 'One of many' })));
    };
    await twoThousand();
    await one({ type: 'output', headline: 'Behind the many' });
    await twoThousand();
    await one({ type: 'output', headline: 'Far behind' });
    await page.goto('/?type=output');
    await row(page, 'Behind the many').waitFor();
    await row(page, 'Far behind').waitFor();
  });

  test('a search keeps the field while it is written, and every letter', async () => {
    const { server, page } = await openDesk(browser());
    await acceptAgent(server);
    await server.wake().delivered({ headline: 'A lantern in the room' });
    await page.reload();
    await row(page, 'A lantern').waitFor();
    await page.keyboard.press('/');
    const field = page.getByRole('searchbox');
    await focused(field);
    await page.keyboard.type('lan');
    await page.waitForURL(/q=lan/);
    await focused(field);
    await page.keyboard.type('tern');
    await page.waitForURL(/q=lantern/);
    await holds(field, 'lantern');
    await focused(field);
  });
});
