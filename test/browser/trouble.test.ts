import type { Page } from 'playwright-core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Desk } from '../support/desk.ts';
import { Server } from '../support/server.ts';
import { until } from '../support/until.ts';
import {
  acceptAgent,
  addBob,
  BOB,
  counted,
  focused,
  HELD_LONG,
  holds,
  logIn,
  openDelivery,
  openDesk,
  openPage,
  row,
  send,
  sharedBrowser,
} from './room.ts';

const browser = sharedBrowser();

describe('bad days', () => {
  test('[D12] two people at once: one wins, the other learns who and when, and keeps what they wrote', async () => {
    const { server, page, trouble } = await openDesk(browser(), { server: HELD_LONG });
    const desk = await server.desk();
    await addBob(server);
    await acceptAgent(server);
    const id = await server.wake().delivered({ headline: 'Who is first?' });
    const other = await openPage(browser(), server);
    // Neither page hears of the other, so that both still show a question when they send.
    for (const deaf of [page, other.page]) await deaf.route('**/desk/stream', (route) => route.abort());
    await logIn(other, server, `/d/${id}`, BOB);
    await openDelivery(page, id);
    await page.keyboard.press('r');
    await page.getByLabel('Why not?').fill('Words of the owner.');
    await other.page.getByRole('radio', { name: 'Reject' }).click();
    await other.page.getByLabel('Why not?').fill('Words of Bob.');

    const statuses = [page, other.page].map(async (one) => {
      const reply = one.waitForResponse((r) => r.url().endsWith('/decision'));
      await one.keyboard.press(send);
      return (await reply).status();
    });
    const answers = await Promise.all(statuses);
    expect([...answers].sort()).toEqual([200, 409]);

    const [winner, loser, mine, theirs] =
      answers[0] === 200
        ? [page, other.page, 'Words of Bob.', 'Words of the owner.']
        : [other.page, page, 'Words of the owner.', 'Words of Bob.'];
    const { decisions } = await desk.detail(id);
    expect(decisions.map(({ state, feedback }) => [state, feedback])).toEqual([['held', theirs]]);
    await winner.getByText('Rejected —').first().waitFor();
    await counted(winner.getByText('decided it first'), 0);
    const who = answers[0] === 200 ? '\\S.*' : 'Bob';
    await loser
      .getByText(new RegExp(`${who} decided it first, at \\d\\d:\\d\\d\\. Your words are kept\\.`))
      .waitFor();
    await counted(loser.getByText('Rejected —'), 0);
    await loser.getByRole('link', { name: 'Go back to it' }).click();
    const kept = loser.getByRole('textbox', { name: 'Your words, not sent' });
    await kept.waitFor();
    await holds(kept, mine);
    // The key for undoing means what one has done oneself; the button says whose decision it takes back.
    const held = loser.locator('.state-line');
    await held.getByText(new RegExp(`^Rejected by ${who} — goes out in`)).waitFor();
    await loser.getByRole('region', { name: 'About this delivery' }).click();
    await loser.keyboard.press('z');
    await loser.keyboard.press('?');
    await loser.getByRole('dialog', { name: 'All keys' }).waitFor();
    await loser.keyboard.press('Escape');
    expect((await desk.detail(id)).state).toBe('held');
    await held.getByRole('button', { name: 'Undo' }).click();
    await until('it waits again', async () => (await desk.detail(id)).state === 'pending');
    expect([...trouble, ...other.trouble]).toEqual([]);
  });

  test('[D12] decided elsewhere while the person writes: they see it at once, and their words stay', async () => {
    const { server, page } = await openDesk(browser(), { server: HELD_LONG });
    await acceptAgent(server);
    const id = await server.wake().delivered({ headline: 'Still open?' });
    await openDelivery(page, id);
    await page.keyboard.press('r');
    await page.getByLabel('Why not?').fill('These are my words.');
    await (await server.desk()).decide(id, { status: 'approved', feedback: 'Go.' });
    const kept = page.getByRole('textbox', { name: 'Your words, not sent' });
    await kept.waitFor();
    await holds(kept, 'These are my words.');
    await page.getByText('Approved —').first().waitFor();
    // Taken back, it is a question again, with the same words in the box.
    await (await server.desk()).undo(id);
    await holds(page.getByLabel('Why not?'), 'These are my words.');
  });

  test('[D12] an answer that comes too late is taken back on screen, with who and when, and every word', async () => {
    const { server, page } = await openDesk(browser(), {
      server: { env: { LANTERNROOM_UNDO_SECONDS: '1' } },
    });
    await acceptAgent(server);
    const id = await server.wake().delivered({ headline: 'Too late?' });
    // A page that hears nothing: it only learns from the refusal.
    await page.route('**/desk/stream', (route) => route.abort());
    await openDelivery(page, id);
    await page.keyboard.press('r');
    await page.getByLabel('Why not?').fill('Mine.');
    const desk = await server.desk();
    await desk.decide(id, { status: 'approved' });
    await until('the other answer is out', async () => (await desk.detail(id)).state === 'decided');
    const refused = page.waitForResponse((reply) => reply.url().endsWith('/decision'));
    await page.keyboard.press(send);
    expect((await refused).status()).toBe(409);
    await page.getByText(/You had decided it already, at \d\d:\d\d\. Your words are kept\./).waitFor();
    await page.getByRole('link', { name: 'Go back to it' }).click();
    const box = page.getByRole('textbox', { name: 'Your words, not sent' });
    await box.waitFor();
    await holds(box, 'Mine.');
    await counted(page.getByRole('radio', { name: 'Approve' }), 0);
    expect((await server.wake().response(id)).json.status).toBe('approved');
  });

  test('the session ends while typing: log in in place, and every word is still there', async () => {
    const { server, page, context } = await openDesk(browser(), { server: HELD_LONG });
    await acceptAgent(server);
    const id = await server.wake().delivered({ headline: 'Long thoughts' });
    await openDelivery(page, id);
    await page.keyboard.press('d');
    const field = page.getByLabel('What should be different?');
    await field.fill('A long thought');
    const desk = await server.desk();
    await until('the beginning is kept', async () => {
      const { json } = await desk.request<{ draft: { feedback: string } | null }>(
        'GET',
        `/desk/deliveries/${id}`,
      );
      return json.draft?.feedback === 'A long thought';
    });
    await context.clearCookies();
    await field.fill('A long thought, and its end.');
    const dialog = page.getByRole('dialog', { name: 'Log in again' });
    await dialog.waitFor();
    await dialog.getByLabel('Password').fill('correct horse battery');
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'hidden' });
    await holds(field, 'A long thought, and its end.');
    await focused(field);
    await page.keyboard.press(send);
    await page.getByText('Redirected —').first().waitFor();
  });

  test('the server restarts while the page is open: it recovers by itself and shows the truth', async () => {
    const { server, page, trouble } = await openDesk(browser());
    await acceptAgent(server);
    await server.wake().delivered({ headline: 'Before the restart' });
    await page.reload();
    await row(page, 'Before the restart').waitFor();
    const { port } = new URL(server.url);
    await server.terminate();
    await page.getByText('Trying again').waitFor();
    const again = await Server.start({ folder: server.folder, args: ['--port', port] });
    await again.wake().delivered({ headline: 'After the restart' });
    await row(page, 'After the restart')
      .or(page.getByRole('button', { name: /new — show/ }))
      .first()
      .waitFor();
    await page.getByText('Trying again').waitFor({ state: 'hidden' });
    expect(trouble).toEqual([]);
  });

  test.each([
    [413, 'payload_too_large', 'too long to send'],
    [429, 'rate_limited', 'Wait 7 seconds'],
    [500, 'internal', 'made a mistake and noted it'],
    [0, '', 'cannot be reached'],
  ])('%i: a calm sentence, rolled back, and nothing lost', async (status, code, sentence) => {
    const { server, page } = await openDesk(browser());
    await acceptAgent(server);
    const id = await server.wake().delivered({ headline: 'Will it go?' });
    await openDelivery(page, id);
    await page.keyboard.press('a');
    await page.getByLabel('Anything for next time?').fill('Keep me.');
    await page.route('**/decision', (route) =>
      status === 0
        ? route.abort()
        : route.fulfill({ status, headers: { 'retry-after': '7' }, json: { error: { code, message: 'x' } } }),
    );
    await page.keyboard.press(send);
    await page.getByText(sentence).waitFor();
    await page.getByRole('link', { name: 'Go back to it' }).click();
    await holds(page.getByLabel('Anything for next time?'), 'Keep me.');
    expect((await server.wake().response(id)).json.status).toBe('pending');
  });

  test('offline after one visit, or the server hangs: the last list, and the page says that it is the last', async () => {
    const server = await Server.start();
    await acceptAgent(server);
    await server.wake().delivered({ headline: 'Kept for later' });
    const watched = await openPage(browser(), server, { hasWorker: true });
    const { page, context } = watched;
    await logIn(watched, server);
    await row(page, 'Kept for later').waitFor();
    await until('the worker has the page and the list', () => page.evaluate(keepsEverything));
    // Not earlier: with a fake clock the page would not notice that it has loaded.
    await page.clock.install();
    await page.reload();
    await page.getByText('In this order since').waitFor();
    // It accepts connections and never answers: no request ends, and none fails.
    onTestFinished(() => void server.child.process.kill('SIGCONT'));
    server.child.process.kill('SIGSTOP');
    await page.clock.fastForward('01:00');
    // The first only until the worker has lost its patience, too.
    await page.getByText(/Live updates are interrupted|The server does not answer/).waitFor();
    await page.reload({ waitUntil: 'commit' });
    await row(page, 'Kept for later').waitFor();
    await page.getByText(/The server does not answer\. This is the list as it was at/).waitFor();
    server.child.process.kill('SIGCONT');
    await page.getByText('In this order since').waitFor();
    await context.setOffline(true);
    await page.reload();
    await row(page, 'Kept for later').waitFor();
    await page.getByText(/You are offline\. This is the list as it was at/).waitFor();
  });

  test('[D12][D17] withdrawn or revised while one writes: it says which, and words and edit stay, after a reload too', async () => {
    const { server, page, trouble } = await openDesk(browser());
    await acceptAgent(server);
    const wake = server.wake();
    const withdrawn = await wake.delivered({ headline: 'Withdrawn in between' });
    await openDelivery(page, withdrawn);
    await page.keyboard.press('d');
    await page.getByRole('button', { name: 'Edit it myself' }).click();
    await page.getByLabel('Draft').fill('Dear customers');
    await page.getByText('Kept as a draft').waitFor();
    await wake.withdraw(withdrawn, 'Not needed any more.');
    await page.getByText('The agent withdrew it while you wrote.').waitFor();
    expect(await page.getByLabel('Your edit, not sent').inputValue()).toContain('Dear customers');
    const revised = await wake.delivered({ headline: 'Revised in between', type: 'output' });
    await openDelivery(page, revised);
    await page.keyboard.press('d');
    const words = page.getByLabel('What should be different?');
    await Promise.all([page.waitForResponse(/\/draft$/), words.fill('Shorter, please')]);
    await wake.delivered({ headline: 'The second version', type: 'output', revises: revised });
    await page.getByText('A newer revision has taken its place.').waitFor();
    await page.getByText('A newer revision came while you wrote.').waitFor();
    await row(page, 'Revised in between').getByText('replaced by a newer revision').waitFor();
    await page.reload();
    await holds(page.getByLabel('Your words, not sent'), 'Shorter, please');
    expect(trouble).toEqual([]);
  });

  test('[D12][D44] made a reader while one writes: it says so, and words and edit stay, after a reload too', async () => {
    const { server, page } = await openDesk(browser(), { to: '/settings/people' });
    await addBob(server);
    await acceptAgent(server);
    const id = await server.wake().delivered({ headline: 'May Bob go on?', details: 'Dear Sir' });
    const bob = await openPage(browser(), server);
    await logIn(bob, server, `/d/${id}`, BOB);
    await bob.page.getByRole('radio', { name: 'Redirect' }).click();
    await bob.page.getByRole('button', { name: 'Edit it myself' }).click();
    await bob.page.locator('.editor .cm-content').fill('Dear Madam');
    await bob.page.getByLabel('What should be different?').fill('Written as a decider.');
    const desk = await Desk.login(server.url, BOB);
    type Kept = { draft: { feedback: string } | null };
    await until('it is kept', async () => {
      const { json } = await desk.request<Kept>('GET', `/desk/deliveries/${id}`);
      return json.draft?.feedback === 'Written as a decider.';
    });
    await page.getByLabel('Role of Bob').selectOption('reader');
    const here = bob.page.getByRole('region', { name: 'Your words' });
    const isThere = async () => {
      await here.getByRole('alert').getByText('Deciding needs the role decider').waitFor();
      await here.getByText('Your words were not sent; here they are.').waitFor();
      await holds(here.getByLabel('Your words, not sent'), 'Written as a decider.');
      await holds(here.getByLabel('Your edit, not sent'), 'Dear Madam');
    };
    await isThere();
    await counted(bob.page.getByRole('radio'), 0);
    await bob.page.reload();
    await isThere();
    await page.getByLabel('Role of Bob').selectOption('decider');
    await holds(bob.page.getByLabel('What should be different?'), 'Written as a decider.');
  });

  test('[D37] words that were written on in another browser are here for whoever comes back to this one', async () => {
    const { server, page } = await openDesk(browser());
    await acceptAgent(server);
    const id = await server.wake().delivered({ headline: 'Two browsers' });
    await openDelivery(page, id);
    await page.keyboard.press('a');
    const write = async (where: Page, text: string) => {
      const field = where.getByLabel('Anything for next time?');
      await Promise.all([where.waitForResponse(/\/draft$/), field.fill(text)]);
    };
    await write(page, 'Fine');
    const other = await openPage(browser(), server);
    await logIn(other, server, `/d/${id}`);
    await holds(other.page.getByLabel('Anything for next time?'), 'Fine');
    await write(page, 'Fine, but shorter');
    await other.page.evaluate(() => dispatchEvent(new Event('focus')));
    await holds(other.page.getByLabel('Anything for next time?'), 'Fine, but shorter');
  });

  test('[D17] an outage that did not break the line: the page shows the truth as soon as it is over', async () => {
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
    await context.setOffline(true);
    // A worker that was only just begun may still reach the server.
    await until('the page is told', async () => {
      await page.keyboard.press('u');
      return page.getByText('You are offline. This is the list as it was').isVisible();
    });
    await context.setOffline(false);
    await page.getByText('In this order since').waitFor();
  });

  test('no stack and no blank page at an address that does not exist', async () => {
    const { page } = await openDesk(browser(), { to: '/d/00000000-0000-4000-8000-000000000000' });
    await page.getByText('There is no delivery with this id').waitFor();
  });
});

/** Runs in the page: the script is kept, and a list that has a delivery in it. */
async function keepsEverything(): Promise<boolean> {
  const kept = await Promise.all((await caches.keys()).map((name) => caches.open(name)));
  const requests = (await Promise.all(kept.map((cache) => cache.keys()))).flat();
  const lists = requests.filter(({ url }) => new URL(url).pathname === '/desk/deliveries');
  const answers = await Promise.all(lists.map((request) => caches.match(request)));
  const texts = await Promise.all(answers.map((answer) => answer?.text() ?? ''));
  const has = (src: string) => requests.some(({ url }) => url === src);
  return [...document.scripts].every(({ src }) => has(src)) && texts.some((text) => text.includes('Kept'));
}
