import { describe, expect, test } from 'vitest';
import { AGENT } from '../support/server.ts';
import { until } from '../support/until.ts';
import {
  acceptAgent,
  counted,
  focused,
  gate,
  HELD_LONG,
  holds,
  isInSight,
  openDelivery,
  openDesk,
  openPalette,
  row,
  send,
  sharedBrowser,
} from './room.ts';

const browser = sharedBrowser();

/** Runs in the page: says when the live line has greeted. */
function noteGreeting(): void {
  const Plain = window.EventSource;
  window.EventSource = class extends Plain {
    constructor(url: string | URL) {
      super(url);
      this.addEventListener('hello', () => Object.assign(window, { isGreeted: true }));
    }
  };
}

describe('triage by keyboard', () => {
  test('[D13][D14] approve, see it held and the next one, and take it back: it waits again, with every word', async () => {
    const { server, page, trouble } = await openDesk(browser(), { server: HELD_LONG });
    await acceptAgent(server);
    const first = await server.wake().delivered({ headline: 'First question', timeout_seconds: 3600 });
    await server.wake().delivered({ headline: 'Second question', timeout_seconds: 7200 });
    await page.reload();
    await row(page, 'Second question').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'First question' }).waitFor();
    await page.getByRole('radio', { name: 'Approve' }).waitFor();
    await counted(page.getByRole('radio', { checked: true }), 0);
    const field = page.getByLabel('Anything for next time?');
    await page.keyboard.press('a');
    await focused(field);
    await page.keyboard.type('Well asked: jkxz are only letters here.');
    await page.getByText('"feedback": "Well asked').waitFor({ state: 'attached' });
    await page.keyboard.press(send);
    await page.getByRole('heading', { name: 'Second question' }).waitFor();
    await page.getByText('Approved —').first().waitFor();
    await row(page, 'First question').getByText('Approved, not sent yet').waitFor();
    expect((await server.wake().response(first)).json.status).toBe('pending');
    await page.keyboard.press('z');
    await page.getByText('waits for you again').waitFor();
    await page.locator('.foot').getByRole('link', { name: 'Go back to it' }).click();
    await page.getByRole('heading', { name: 'First question' }).waitFor();
    await holds(field, 'Well asked: jkxz are only letters here.');
    expect((await server.wake().response(first)).json.status).toBe('pending');
    expect(trouble).toEqual([]);
  });

  test('[D13] a row that is held says which way, also to somebody who only now opens the page', async () => {
    const { server, page, trouble } = await openDesk(browser(), { server: HELD_LONG });
    const desk = await server.desk();
    for (const status of ['approved', 'rejected', 'redirected'])
      await desk.decide(await server.wake().delivered({ headline: `To be ${status}` }), {
        status,
        feedback: 'So.',
      });
    await page.reload();
    for (const word of ['Approved', 'Rejected', 'Redirected'])
      await row(page, `To be ${word.toLowerCase()}`).getByText(`${word}, not sent yet`).waitFor();
    await row(page, 'To be rejected').click();
    await page.locator('.state-line').getByText('Rejected — goes out in').waitFor();
    expect(trouble).toEqual([]);
  });

  test('[D13] approve, and it goes out by itself with what was written', async () => {
    const { server, page, trouble } = await openDesk(browser(), {
      server: { env: { LANTERNROOM_UNDO_SECONDS: '1' } },
    });
    await acceptAgent(server);
    const first = await server.wake().delivered({ headline: 'First question' });
    await openDelivery(page, first);
    await page.keyboard.press('a');
    await focused(page.getByLabel('Anything for next time?'));
    await page.keyboard.type('Well asked.');
    await page.getByText('"feedback": "Well asked."').waitFor({ state: 'attached' });
    await page.keyboard.press(send);
    const answer = await until('the answer goes out', async () => {
      const { json } = await server.wake().response(first);
      return json.status === 'approved' ? json : undefined;
    });
    expect(answer.feedback).toBe('Well asked.');
    expect(trouble).toEqual([]);
  });

  test('a verdict key in the list opens the delivery with that verdict, in the words that were begun elsewhere', async () => {
    const { server, page } = await openDesk(browser());
    await acceptAgent(server);
    const id = await server.wake().delivered({ headline: 'Begun elsewhere' });
    const desk = await server.desk();
    const draft = { mode: null, feedback: 'Begun yesterday.', edited_content: null };
    await desk.request('PUT', `/desk/deliveries/${id}/draft`, draft);
    await page.reload();
    await row(page, 'Begun elsewhere').waitFor();
    await page.keyboard.press('j');
    await page.waitForFunction(() => document.activeElement?.textContent?.includes('Begun elsewhere'));
    await page.keyboard.press('r');
    await focused(page.getByLabel('Why not?'));
    await holds(page.getByLabel('Why not?'), 'Begun yesterday.');
    await until('the verdict is kept beside the words', async () => {
      const { json } = await desk.request<{
        draft: typeof draft | { mode: string; feedback: string } | null;
      }>('GET', `/desk/deliveries/${id}`);
      return json.draft?.mode === 'rejected' && json.draft.feedback === 'Begun yesterday.';
    });
  });

  test('Esc leads out of a field first, and then out of the delivery, to its row', async () => {
    const { server, page } = await openDesk(browser());
    await acceptAgent(server);
    const id = await server.wake().delivered({ headline: 'In and out', details: { note: 'one\ntwo' } });
    await openDelivery(page, id);
    await page.keyboard.press('d');
    await focused(page.getByLabel('What should be different?'));
    await page.keyboard.press('Escape');
    await focused(page.locator('#detail'));
    await page.getByRole('button', { name: 'Edit it myself' }).click();
    await page.getByLabel('Note').focus();
    await page.keyboard.press('Escape');
    await focused(page.locator('#detail'));
    await page.keyboard.press('Escape');
    await focused(page.locator(`#row-${id}`));
    expect(new URL(page.url()).pathname).toBe('/');
    await page.keyboard.press('f');
    await focused(page.getByLabel('Section'));
    await page.keyboard.press('Escape');
    await page.keyboard.press('/');
    await focused(page.getByRole('searchbox'));
  });

  test('j and k move, x checks, Esc lets go, g goes, ? shows all keys, and the topmost dialog hears them alone', async () => {
    const { server, page } = await openDesk(browser());
    await acceptAgent(server);
    for (const name of ['One', 'Two', 'Three'])
      await server.wake().delivered({ headline: name, timeout_seconds: undefined });
    await page.reload();
    await row(page, 'Three').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.waitForFunction(() => document.activeElement?.textContent?.includes('Two'));
    await page.keyboard.press('x');
    await page.getByText('One checked.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('One checked.').waitFor({ state: 'hidden' });
    await page.keyboard.press('?');
    const dialog = page.getByRole('dialog', { name: 'All keys' });
    await dialog.waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('g');
    await page.keyboard.press('h');
    expect(new URL(page.url()).pathname).toBe('/');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    // Two keys count together within a second or so, which a busy machine may put between them.
    await until('g and h lead to the history', async () => {
      await page.keyboard.press('g');
      await page.keyboard.press('h');
      return page.getByRole('heading', { name: 'History' }).isVisible();
    });
    await openPalette(page);
    await page.keyboard.type('inb');
    await page.keyboard.press('Enter');
    await row(page, 'Two').waitFor();
  });

  test('keys can be changed and switched off', async () => {
    const { server, page } = await openDesk(browser(), { to: '/settings/keys' });
    await acceptAgent(server);
    await server.wake().delivered({ headline: 'A question' });
    await page.getByRole('button', { name: /^Approve:/ }).click();
    await page.keyboard.press('y');
    await page.getByText('Kept.').waitFor();
    await page.goto('/');
    await row(page, 'A question').click();
    await page.getByRole('radio', { name: 'Approve y' }).waitFor();
    await page.keyboard.press('a');
    await counted(page.getByRole('radio', { checked: true }), 0);
    await page.keyboard.press('y');
    await page.getByRole('radio', { name: 'Approve', checked: true }).waitFor();
    await page.goto('/settings/keys');
    await page.getByLabel(/Single keys do things/).click();
    await page.getByText('Kept.').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('?');
    await counted(page.getByRole('dialog'), 0);
  });

  test('[D15] snooze, bring back, and acknowledge', async () => {
    const { server, page } = await openDesk(browser());
    await acceptAgent(server);
    const later = await server.wake().delivered({ headline: 'Later, please' });
    const alert = await server.wake().delivered({ type: 'alert', headline: 'The disk is nearly full' });
    const last = await server.wake().delivered({ type: 'alert', headline: 'The disk is full' });
    type Marks = { read_at: string | null; snoozed_until: string | null };
    const desk = await server.desk();
    const marks = async (id: string) => (await desk.request<Marks>('GET', `/desk/deliveries/${id}`)).json;
    await page.reload();
    await row(page, 'Later, please').click();
    await page.getByRole('radio', { name: 'Approve' }).waitFor();
    await page.keyboard.press('s');
    const dialog = page.getByRole('dialog', { name: 'Out of sight until…' });
    await dialog.getByRole('button', { name: /Tomorrow morning/ }).click();
    await dialog.waitFor({ state: 'hidden' });
    await until('it sleeps', async () => (await marks(later)).snoozed_until !== null);
    await page.keyboard.press('u');
    await page.getByRole('heading', { name: 'Snoozed' }).waitFor();
    await row(page, 'The disk is nearly full').click();
    await page.getByRole('button', { name: /^Acknowledge/ }).waitFor();
    // By key as by button: it is done, so the next one comes.
    await page.keyboard.press('e');
    await page.getByRole('heading', { name: 'The disk is full', level: 1 }).waitFor();
    await until('it is read', async () => (await marks(alert)).read_at !== null);
    expect((await marks(last)).read_at).toBeNull();
  });

  test('[D15] z takes back what was done last: a snooze, or the decision that came after it', async () => {
    const { server, page } = await openDesk(browser(), { server: HELD_LONG });
    await acceptAgent(server);
    for (const headline of ['Decided first', 'Snoozed', 'Decided last'])
      await server.wake().delivered({ headline, timeout_seconds: undefined });
    await page.reload();
    const approve = async (headline: string) => {
      await page.getByRole('heading', { name: headline, level: 1 }).waitFor();
      await page.getByRole('radio', { name: 'Approve' }).waitFor();
      await page.keyboard.press('a');
      await page
        .getByRole('button', { name: /^Approve/ })
        .last()
        .click();
    };
    await row(page, 'Decided first').click();
    await approve('Decided first');
    await page.getByRole('heading', { name: 'Snoozed', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Snooze…' }).waitFor();
    await page.keyboard.press('s');
    await page.getByRole('button', { name: /Tomorrow morning/ }).click();
    const foot = page.locator('.foot');
    await foot.getByText('Out of sight until tomorrow 09:00.').waitFor();
    await page.keyboard.press('z');
    await foot.getByText('Taken back. “Snoozed” waits for you again.').waitFor();
    await foot.getByRole('link', { name: 'Go back to it' }).waitFor();
    await counted(row(page, 'Snoozed').getByText('back tomorrow'), 0);
    await row(page, 'Decided first').getByText('Approved, not sent yet').waitFor();
    await approve('Decided last');
    await row(page, 'Decided last').getByText('Approved, not sent yet').waitFor();
    await page.keyboard.press('z');
    await foot.getByText('Taken back. “Decided last” waits for you again.').waitFor();
    await page.keyboard.press('z');
    await foot.getByText('Taken back. “Decided first” waits for you again.').waitFor();
  });
});

describe('triage by pointer', () => {
  test('a row that was scrolled to in the same moment does not move away under the press', async () => {
    const { server, page } = await openDesk(browser(), { look: { width: 1280, height: 860 } });
    await acceptAgent(server);
    for (let n = 1; n <= 9; n++)
      await server.wake().delivered({ headline: `Number ${n} of nine, with a headline of two lines` });
    await page.reload();
    await row(page, 'Number 9').waitFor();
    // Scrolls and presses before the list has heard of the scrolling, as a screen reader may.
    await row(page, 'Number 9').getByRole('link').click();
    await page.getByRole('heading', { name: /^Number 9/, level: 1 }).waitFor();
    await page.goto('/');
    // The keys go on from a row that was only checked.
    await row(page, 'Number 3').getByRole('checkbox').click();
    await page.keyboard.press('j');
    await focused(row(page, 'Number 4').getByRole('link'));
  });

  test('[D15] by touch: out of sight, on to the next, and back from what says that it is out of sight', async () => {
    const look = { width: 390, height: 780, isTouch: true };
    const { server, page } = await openDesk(browser(), { look });
    await acceptAgent(server);
    for (const headline of ['Later, please', 'The next one']) await server.wake().delivered({ headline });
    await page.reload();
    await row(page, 'Later, please').getByRole('link').tap();
    await page.getByRole('button', { name: 'Snooze…' }).tap();
    await page.getByRole('button', { name: /Tomorrow morning/ }).tap();
    await page.getByRole('heading', { name: 'The next one', level: 1 }).waitFor();
    await page.getByRole('link', { name: '← Inbox' }).tap();
    await row(page, 'Later, please').getByText('back tomorrow 09:00').waitFor();
    await row(page, 'Later, please').getByRole('link').tap();
    await page.getByText('Out of sight until tomorrow 09:00.', { exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'Bring it back now' }).tap();
    await counted(page.locator('.state-line'), 0);
  });

  test('[D89] a key that cannot be about all that is checked says so, and leaves the one at the cursor alone', async () => {
    const { server, page } = await openDesk(browser(), { server: HELD_LONG });
    await acceptAgent(server);
    const ids = [];
    for (const headline of ['The first', 'The second'])
      ids.push(await server.wake().delivered({ headline, timeout_seconds: undefined }));
    await server.wake().delivered({ headline: 'The third', timeout_seconds: undefined });
    await page.reload();
    await row(page, 'The third').waitFor();
    for (const key of ['j', 'x', 'j', 'x', 'j']) await page.keyboard.press(key);
    await page.getByText('Two checked.').waitFor();
    await page.keyboard.press('d');
    await page.getByText('A redirect is for one delivery.').waitFor();
    expect(new URL(page.url()).pathname).toBe('/');
    const desk = await server.desk();
    for (const id of ids) await desk.decide(id, { status: 'approved' });
    await row(page, 'The second').getByText('Approved, not sent yet').waitFor();
    await row(page, 'The first').getByText('Approved, not sent yet').waitFor();
    await page.keyboard.press('s');
    await page.getByText('None of what is checked is waiting').waitFor();
    await counted(page.getByRole('dialog'), 0);
    await page.keyboard.press('a');
    const sheet = page.getByRole('dialog', { name: 'Approve together' });
    await sheet.getByText('None of them can be approved together. Each says why.').waitFor();
    await counted(sheet.getByText('already answered'), 2);
  });

  test('[D15] what is checked goes out of sight together, and what could not is still checked', async () => {
    const { server, page } = await openDesk(browser());
    await acceptAgent(server);
    const [, second] = [
      await server.wake().delivered({ headline: 'The first' }),
      await server.wake().delivered({ headline: 'The second' }),
      await server.wake().delivered({ headline: 'The third' }),
    ];
    await page.reload();
    await page.route(`**/${second}/snooze`, (route) => route.abort());
    await row(page, 'The first').waitFor();
    for (const key of ['j', 'x', 'j', 'x', 's']) await page.keyboard.press(key);
    const dialog = page.getByRole('dialog', { name: 'Two out of sight until…' });
    await dialog.getByRole('button', { name: /Tomorrow morning/ }).click();
    await row(page, 'The first').getByText('back tomorrow 09:00').waitFor();
    await page.getByText('“The second” could not be snoozed.').waitFor();
    await page.getByText('One checked.').waitFor();
    expect(await row(page, 'The second').getByRole('checkbox').isChecked()).toBe(true);
    await counted(row(page, 'The third').getByText('back tomorrow'), 0);
  });

  test('[D18] redirect with an edit: a number stays a number, the diff is live, and the agent receives what was shown', async () => {
    const details = { amount: 1480, paid: false, to: { name: 'Nordlicht', tags: ['a', 'b'] }, note: null };
    const { server, page, trouble } = await openDesk(browser(), {
      server: { env: { LANTERNROOM_UNDO_SECONDS: '1' } },
    });
    await acceptAgent(server);
    const id = await server.wake().delivered({ headline: 'Pay it?', details });
    await page.reload();
    await row(page, 'Pay it?').click();
    await page.getByRole('radio', { name: 'Redirect' }).click();
    await page.getByText('Say what should be different').waitFor();
    await page.getByRole('button', { name: 'Edit it myself' }).click();
    await page.getByLabel('Amount').fill('ten');
    await page.getByText('This stays a number').waitFor();
    await page.getByLabel('Amount').fill('1321.5');
    await page.getByLabel('Name', { exact: true }).fill('Nordlicht Ltd.');
    await page.locator('.changes', { hasText: '1480' }).getByText('1321.5').waitFor();
    await page.getByText('What the agent will receive').click();
    await page.locator('.receives .code', { hasText: '"amount": 1321.5' }).waitFor();
    await page
      .getByRole('button', { name: /^Redirect/ })
      .last()
      .click();
    const answer = await until('the answer goes out', async () => {
      const { json } = await server.wake().response(id);
      return json.status === 'redirected' ? json : undefined;
    });
    expect(answer.edited_content).toEqual({
      ...details,
      amount: 1321.5,
      to: { name: 'Nordlicht Ltd.', tags: ['a', 'b'] },
    });
    expect(trouble).toEqual([]);
  });

  test('the editor loads under the content policy, and its text is what the agent receives', async () => {
    const { server, page, trouble } = await openDesk(browser(), {
      server: { env: { LANTERNROOM_UNDO_SECONDS: '1' } },
    });
    await acceptAgent(server);
    const id = await server.wake().delivered({ headline: 'A letter', details: 'Dear Sir,\n\nfour weeks.' });
    await page.goto(`/d/${id}`);
    await page.getByRole('radio', { name: 'Redirect' }).click();
    await page.getByRole('button', { name: 'Edit it myself' }).click();
    await page.getByRole('textbox', { name: 'The text, to be changed' }).click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('\nYours');
    await page.locator('.changes ins', { hasText: 'Yours' }).waitFor();
    await page.keyboard.press(send);
    const answer = await until('the answer goes out', async () => {
      const { json } = await server.wake().response(id);
      return json.status === 'redirected' ? json : undefined;
    });
    expect(answer.edited_content).toBe('Dear Sir,\n\nfour weeks.\nYours');
    expect(trouble).toEqual([]);
  });

  test('bulk names every headline, and what was not opened or cannot be undone apart, with the reason', async () => {
    const { server, page } = await openDesk(browser(), {
      server: { env: { LANTERNROOM_UNDO_SECONDS: '1' } },
    });
    await acceptAgent(server);
    const seen = await server.wake().delivered({ headline: 'Opened before', timeout_seconds: 600 });
    const unseen = await server.wake().delivered({ headline: 'Never looked at', timeout_seconds: 1200 });
    await server
      .wake()
      .delivered({ headline: 'For ever', details: { reversible: false }, timeout_seconds: 1800 });
    await page.reload();
    for (const name of ['Opened before', 'For ever']) {
      await row(page, name).click();
      await page.getByRole('heading', { name, level: 1 }).waitFor();
      await page.getByRole('radio', { name: 'Approve' }).waitFor();
    }
    for (const name of ['Opened before', 'Never looked at', 'For ever'])
      await row(page, name).getByRole('checkbox').check({ force: true });
    await page.getByRole('button', { name: 'Approve…' }).click();
    const sheet = page.getByRole('dialog', { name: 'Approve together' });
    const apart = sheet.getByRole('region', { name: 'Not included' });
    await apart.getByText('not opened yet').waitFor();
    await apart.getByText('cannot be undone').waitFor();
    await sheet.getByRole('button', { name: 'Approve one' }).click();
    await until(
      'the seen one is approved',
      async () => (await server.wake().response(seen)).json.status === 'approved',
    );
    expect((await server.wake().response(unseen)).json.status).toBe('pending');
  });

  test('new arrivals wait behind a line and push nothing; a reload shows the truth', async () => {
    const { server, page } = await openDesk(browser());
    await acceptAgent(server);
    await server.wake().delivered({ headline: 'Old one', timeout_seconds: 86_400 });
    await page.reload();
    await row(page, 'Old one').waitFor();
    await page.evaluate(() => document.fonts.ready);
    const places = () =>
      page.locator('article.row').evaluateAll((rows) => rows.map((one) => one.getBoundingClientRect().top));
    let before = await places();
    await until('the rows have found their places', async () => {
      const [earlier, now] = [before, await places()];
      before = now;
      return now.length > 0 && JSON.stringify(earlier) === JSON.stringify(now);
    });
    for (const name of ['Newer', 'Newest'])
      await server.wake().delivered({ headline: name, timeout_seconds: 120 });
    await page.getByRole('button', { name: /Two new — show/ }).waitFor();
    expect(await places()).toEqual(before);
    expect(await page.title()).toBe('Lanternroom');
    await page.keyboard.press('u');
    await row(page, 'Newest').waitFor();
    await page.reload();
    await row(page, 'Newest').waitFor();
  });

  test('what is new is shown where it is asked for, however far down it stands, and a delivery that is open stays', async () => {
    const { server, page } = await openDesk(browser());
    await acceptAgent(server);
    // More than are loaded at first.
    for (let n = 1; n <= 110; n++)
      await server.wake().delivered({ headline: `Old ${n}`, timeout_seconds: undefined });
    await page.reload();
    await row(page, 'Old 1').first().waitFor();
    await page.keyboard.press('j');
    await focused(row(page, 'Old 1').first().getByRole('link'));
    const link = (headline: string) => row(page, headline).getByRole('link');
    const show = page.getByRole('button', { name: /^One new — show/ });
    await server.wake().delivered({ headline: 'Newer', timeout_seconds: undefined });
    await show.waitFor();
    await page.keyboard.press('u');
    await focused(link('Newer'));
    await expect.poll(() => isInSight(row(page, 'Newer'))).toBe(true);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Newer', level: 1 }).waitFor();
    await server.wake().delivered({ type: 'alert', headline: 'Newest', timeout_seconds: undefined });
    await show.click();
    await expect.poll(() => isInSight(row(page, 'Newest'))).toBe(true);
    await page.getByRole('heading', { name: 'Newer', level: 1 }).waitFor();
    await page.keyboard.press('k');
    await page.getByRole('heading', { name: 'Old 110', level: 1 }).waitFor();
    // Nothing has arrived: the place in the list is kept.
    await page.keyboard.press('Escape');
    await focused(link('Old 110'));
    await page.keyboard.press('u');
    await focused(link('Old 110'));
  });

  test('[D34] the minutes in the header of the inbox are those of a sitting', async () => {
    const { server, page } = await openDesk(browser());
    await acceptAgent(server);
    for (const type of ['question', 'output', 'alert', 'alert'])
      await server.wake().delivered({ type, timeout_seconds: undefined });
    await page.reload();
    await page.getByText('About four minutes.').waitFor();
    await page.getByRole('link', { name: 'Sit', exact: true }).click();
    await page.getByText('about 4 minutes left').waitFor();
  });

  test('[D17] the list is asked for once when nothing happens before the live line stands', async () => {
    const { server, page, context } = await openDesk(browser());
    await acceptAgent(server);
    await server.wake().delivered({ headline: 'Old one', timeout_seconds: 86_400 });
    await context.addInitScript(noteGreeting);
    await page.goto('about:blank');
    const asked: (string | null)[] = [];
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname === '/desk/deliveries') asked.push(searchParams.get('section'));
    });
    await page.goto('/');
    await row(page, 'Old one').waitFor();
    await page.waitForFunction(() => 'isGreeted' in window);
    // What is told later shows that the greeting has had its consequences.
    await server.wake().delivered({ headline: 'Young one', timeout_seconds: 3600 });
    await page.getByRole('button', { name: 'One new' }).waitFor();
    expect(asked).toEqual([null, 'earlier']);
  });

  test('[D17] what arrives after the list was read and before the live line stands is not lost', async () => {
    const { server, page } = await openDesk(browser());
    await acceptAgent(server);
    await server.wake().delivered({ headline: 'Old one', timeout_seconds: 86_400 });
    const { opened, open } = gate();
    await page.route('**/desk/stream', async (route) => {
      await opened;
      await route.continue();
    });
    await page.reload();
    await row(page, 'Old one').waitFor();
    await server.wake().delivered({ headline: 'Young one', timeout_seconds: 3600 });
    open();
    await page.getByRole('button', { name: 'One new' }).click();
    await row(page, 'Young one').waitFor();
  });

  test('search and filters live in the address, and survive a reload', async () => {
    const { server, page } = await openDesk(browser());
    await acceptAgent(server);
    await server.wake().delivered({ headline: 'About marmalade' });
    await server.wake().delivered({ headline: 'About pears', details: 'With a hint of marmalade inside.' });
    await server.wake().delivered({ headline: 'About plums', type: 'output' });
    await page.reload();
    await row(page, 'About plums').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('marmalade');
    await row(page, 'About plums').waitFor({ state: 'hidden' });
    await row(page, 'About pears').waitFor();
    expect(new URL(page.url()).searchParams.get('q')).toBe('marmalade');
    await page.goto('/?type=output');
    await row(page, 'About plums').waitFor();
    await counted(row(page, 'About pears'), 0);
    await page.reload();
    await row(page, 'About plums').waitFor();
    await counted(row(page, 'About pears'), 0);
  });

  test('drafts are kept on the server, and meet the person in another browser', async () => {
    const { server, page, context } = await openDesk(browser());
    await acceptAgent(server);
    const id = await server.wake().delivered({ headline: 'Think about it' });
    await page.goto(`/d/${id}`);
    await page.getByRole('radio', { name: 'Reject' }).click();
    await page.getByLabel('Why not?').fill('Not before Thursday.');
    const desk = await server.desk();
    await until('the words are kept', async () => {
      const { json } = await desk.request<{ draft: { feedback: string } | null }>(
        'GET',
        `/desk/deliveries/${id}`,
      );
      return json.draft?.feedback === 'Not before Thursday.';
    });
    const other = await context.newPage();
    await other.goto(`/d/${id}`);
    await holds(other.getByLabel('Why not?'), 'Not before Thursday.');
  });

  test('sit: one at a time to the end, and the tide line afterwards', async () => {
    const { server, page } = await openDesk(browser(), {
      server: { env: { LANTERNROOM_UNDO_SECONDS: '1' } },
    });
    await acceptAgent(server);
    for (const name of ['Sit one', 'Sit two'])
      await server.wake().delivered({ headline: name, timeout_seconds: undefined });
    await page.goto('/sit');
    await page.getByText('1 of 2').waitFor();
    await page.getByRole('radio', { name: 'Approve' }).waitFor();
    await page.keyboard.press('a');
    await focused(page.getByLabel('Anything for next time?'));
    await page.keyboard.press(send);
    await page.getByText('2 of 2').waitFor();
    await page.getByRole('radio', { name: 'Approve' }).waitFor();
    await page.keyboard.press('s');
    const dialog = page.getByRole('dialog', { name: 'Out of sight until…' });
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await page.keyboard.press('j');
    await page.getByText('That’s everything.').waitFor();
    await page.getByText('What you left for later or took back still waits in the inbox.').waitFor();
    await until('the sitting is noted', async () => {
      const { json } = await (await server.desk()).request<{ sat_at: string | null }>(
        'GET',
        '/desk/overview',
      );
      return json.sat_at !== null;
    });
    await server.wake().delivered({ headline: 'After the sitting', timeout_seconds: undefined });
    await page.goto('/');
    await page.getByText(/since you last sat, \d\d:\d\d/).waitFor();
  });

  test('[D57] a row says how many parts there are, and that it cannot be undone', async () => {
    const { server, page } = await openDesk(browser());
    await acceptAgent(server);
    const details = { a: 1, b: 2, c: 3, reversible: false };
    await server.wake().delivered({ headline: 'Four things at once', details });
    await server.wake().delivered({ headline: 'Only words', details: 'Nothing more.' });
    await page.goto('/');
    const words = row(page, 'Four things at once').locator('.row-words');
    await words.getByText('4 parts').waitFor();
    await words.getByText('cannot be undone').waitFor();
    expect(await row(page, 'Only words').locator('.row-words').innerHTML()).not.toMatch(/parts|undone/);
  });

  test('[D59] a number that no double holds is shown, edited around and edited, without losing a digit', async () => {
    const { server, page } = await openDesk(browser(), {
      server: { env: { LANTERNROOM_UNDO_SECONDS: '0' } },
    });
    const details = '{"account":90071992547409931234,"rate":1.10,"note":"pay"}';
    const sent = JSON.stringify({
      agent_id: AGENT.id,
      provider: 'test',
      type: 'question',
      headline: 'Large numbers',
      summary: 'All their digits matter.',
      details: 0,
    });
    const reply = await fetch(`${server.url}/wake/v1/deliver`, {
      method: 'POST',
      headers: { authorization: `Bearer ${AGENT.key}`, 'content-type': 'application/json' },
      body: sent.replace('"details":0', `"details":${details}`),
    });
    const { delivery_id: id } = (await reply.json()) as { delivery_id: string };
    await openDelivery(page, id);
    await page.locator('.details').getByText('90071992547409931234').waitFor();
    await page.getByRole('radio', { name: 'Redirect' }).click();
    await page.getByRole('button', { name: 'Edit it myself' }).click();
    await page.getByLabel('Note').fill('pay later');
    await page.getByLabel('Account').fill('90071992547409931235');
    await page.locator('.changes del', { hasText: '90071992547409931234' }).waitFor();
    await counted(page.locator('.change'), 2);
    await page.keyboard.press(send);
    const read = () =>
      fetch(`${server.url}/wake/v1/response/${id}`, { headers: { authorization: `Bearer ${AGENT.key}` } });
    const answer = await until('the answer is there', async () => {
      const text = await (await read()).text();
      return text.includes('redirected') ? text : undefined;
    });
    expect(answer).toContain(
      '"edited_content":{"account":90071992547409931235,"rate":1.10,"note":"pay later"}',
    );
  });
});
