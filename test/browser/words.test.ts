import { describe, expect, test } from 'vitest';
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

describe('words and places', () => {
  test('[D12] decided by somebody else: words and edit stay in reach, and the words after a reload too', async () => {
    const { server, page } = await openDesk(browser(), { server: HELD_LONG });
    const desk = await server.desk();
    await addBob(server);
    await acceptAgent(server);
    const id = await server.wake().delivered({ headline: 'Whose?', details: { note: 'one' } });
    await openDelivery(page, id);
    await page.keyboard.press('d');
    await page.getByLabel('What should be different?').fill('My words.');
    await page.getByRole('button', { name: 'Edit it myself' }).click();
    await page.getByLabel('Note').fill('my edit');
    await until('it is kept', async () => {
      const { json } = await desk.request<{ draft: { edited_content: { note?: string } | null } | null }>(
        'GET',
        `/desk/deliveries/${id}`,
      );
      return json.draft?.edited_content?.note === 'my edit';
    });
    const other = await openPage(browser(), server);
    await logIn(other, server, `/d/${id}`, BOB);
    await other.page.getByRole('radio', { name: 'Approve' }).waitFor();
    await other.page.keyboard.press('a');
    await other.page.keyboard.press(send);
    for (const look of [async () => {}, () => page.reload()]) {
      await look();
      await holds(page.getByRole('textbox', { name: 'Your words, not sent' }), 'My words.');
      const edit = page.getByRole('textbox', { name: 'Your edit, not sent' });
      await edit.waitFor();
      expect(await edit.inputValue()).toContain('my edit');
    }
  });

  test('while nothing waits, the header says when the last decision was', async () => {
    const { server, page } = await openDesk(browser(), { server: HELD_LONG });
    await acceptAgent(server);
    const desk = await server.desk();
    await desk.decide(await server.wake().delivered({ headline: 'Shall I?' }), { status: 'approved' });
    await page.reload();
    const header = page.locator('.list-header');
    await header.getByText('Nothing needs you.').waitFor();
    await header.getByText(/^The last decision was at \d\d:\d\d\.$/).waitFor();
  });

  test('what is pasted is never cut: too much is pointed out, and cannot be sent', async () => {
    const { server, page, trouble } = await openDesk(browser());
    await acceptAgent(server);
    const id = await server.wake().delivered({ headline: 'Pasted' });
    await openDelivery(page, id);
    await page.keyboard.press('a');
    await focused(page.getByLabel('Anything for next time?'));
    await page.keyboard.insertText('x'.repeat(20_001));
    await page.getByText(/At most 20\s000 characters can be sent; these are 20\s001\./).waitFor();
    expect(await page.locator('.send').isDisabled()).toBe(true);
    // The words exist only here, so leaving asks first.
    await page.getByText('Your words are only here.').waitFor();
    void page.close({ runBeforeUnload: true });
    await until('one is asked', () => trouble.length > 0);
    expect(trouble).toEqual(['dialog: ']);
    await page.keyboard.press('Backspace');
    await expect.poll(() => page.locator('.send').isEnabled(), { timeout: 120_000 }).toBe(true);
  });

  test('[D47] a sign before the first word is no search yet, and no list is lost over it', async () => {
    const { server, page } = await openDesk(browser());
    await acceptAgent(server);
    const id = await server.wake().delivered({ headline: 'Still in sight' });
    await page.reload();
    await row(page, 'Still in sight').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('“');
    await page.keyboard.press('Enter');
    await focused(page.locator(`#row-${id}`));
    expect(new URL(page.url()).search).toBe('');
  });

  test('Back from a delivery finds the decision in the history open, and the focus on the way to it', async () => {
    const { server, page } = await openDesk(browser());
    await acceptAgent(server);
    const id = await server.wake().delivered({ headline: 'Looked up again' });
    await (await server.desk()).decide(id, { status: 'approved' });
    await page.goto('/history');
    await page.locator('summary', { hasText: 'Looked up again' }).click();
    const way = page.getByRole('link', { name: 'Open the delivery' });
    await way.focus();
    await page.keyboard.press('Enter');
    await page.locator('.state-line').getByText('Approved').waitFor();
    await page.goBack();
    await focused(way);
  });

  test('[D15] a time that is past cannot be chosen for coming back', async () => {
    const { server, page } = await openDesk(browser());
    await acceptAgent(server);
    const id = await server.wake().delivered({ headline: 'Not in the past' });
    await openDelivery(page, id);
    await page.keyboard.press('s');
    const menu = page.getByRole('dialog', { name: 'Out of sight until…' });
    await menu.getByLabel('Another time').fill('2026-01-01T10:00');
    await menu.getByRole('button', { name: 'Until then' }).click();
    await focused(menu.getByLabel('Another time'));
    await counted(page.locator('.foot-line'), 0);
  });

  test('s does nothing to what is answered already', async () => {
    const { server, page } = await openDesk(browser(), { server: HELD_LONG });
    await acceptAgent(server);
    const id = await server.wake().delivered({ headline: 'Answered' });
    await (await server.desk()).decide(id, { status: 'approved' });
    await page.goto(`/d/${id}`);
    await page.locator('.state-line').getByText('Approved —').waitFor();
    await row(page, 'Answered').waitFor();
    await page.keyboard.press('s');
    // The keys are heard in order: when this one is answered, the one before it was.
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'All keys' }).waitFor();
    await counted(page.getByRole('dialog', { name: 'Out of sight until…' }), 0);
  });

  test('Back from another screen finds the focus where it was, and a second Enter goes into the delivery', async () => {
    const { server, page } = await openDesk(browser());
    await acceptAgent(server);
    const id = await server.wake().delivered({ headline: 'Left and found' });
    await page.reload();
    await row(page, 'Left and found').waitFor();
    await page.keyboard.press('j');
    await focused(page.locator(`#row-${id}`));
    await page.keyboard.press('Enter');
    await page.getByRole('radio', { name: 'Approve' }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('h');
    await page.getByRole('heading', { name: 'History' }).waitFor();
    await page.goBack();
    await page.getByRole('radio', { name: 'Approve' }).waitFor();
    await focused(page.locator(`#row-${id}`));
    await page.keyboard.press('Enter');
    await focused(page.locator('#detail'));
  });

  test('together, too, nobody is turned away without a reason', async () => {
    const { server, page } = await openDesk(browser(), { server: HELD_LONG });
    await acceptAgent(server);
    const id = await server.wake().delivered({ headline: 'Turned away' });
    await openDelivery(page, id);
    await row(page, 'Turned away').waitFor();
    await page.keyboard.press('x');
    await page.getByRole('button', { name: 'Reject…' }).click();
    const sheet = page.getByRole('dialog', { name: 'Reject together' });
    const reject = sheet.getByRole('button', { name: 'Reject one' });
    await reject.waitFor();
    expect(await reject.isDisabled()).toBe(true);
    // As with one alone, it can be written at once.
    await focused(sheet.getByLabel('Why not?'));
    await sheet.getByLabel('Why not?').fill('Too dear.');
    await reject.click();
    await row(page, 'Turned away').getByText('Rejected, not sent yet').waitFor();
  });
});
