import { describe, expect, test } from 'vitest';
import { Desk } from '../support/desk.ts';
import { sharedServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import {
  addBob,
  answerLate,
  BOB,
  checkAll,
  counted,
  everythingAsked,
  gate,
  HELD_LONG,
  holds,
  logIn,
  openAll,
  openDesk,
  openPage,
  openQuestions,
  row,
  send,
  sharedBrowser,
} from './room.ts';

const browser = sharedBrowser();
const server = sharedServer(HELD_LONG, addBob);
const openWith = (headlines: readonly string[]) => openQuestions(browser(), server(), headlines);
const bob = () => Desk.login(server().url, BOB);

describe('an answer that comes late', () => {
  test('[D17] a list that was read before something arrived does not hide it', async () => {
    const { page, agent } = await openWith(['Old one']);
    const deliver = (headline: string) =>
      server().wake(agent.key).delivered({ agent_id: agent.id, headline });
    await deliver('In the list');
    await page.getByRole('button', { name: 'One new — show' }).waitFor();
    const { given, letGo } = await answerLate(page, '**/desk/deliveries?*');
    await page.keyboard.press('u');
    await given;
    await deliver('After the list');
    await page.getByRole('button', { name: 'Two new — show' }).waitFor();
    letGo();
    await row(page, 'In the list').waitFor();
    await page.getByRole('button', { name: 'One new — show' }).click();
    await row(page, 'After the list').waitFor();
  });

  test('[D17] a delivery that was withdrawn while it was opened says so', async () => {
    const { page, agent, ids } = await openWith(['Needed no more']);
    const { given, letGo } = await answerLate(page, `**/desk/deliveries/${ids[0]}`);
    await row(page, 'Needed no more').getByRole('link').click();
    await given;
    await server()
      .wake(agent.key)
      .withdraw(ids[0] ?? '', 'Not needed any more.');
    await row(page, 'Needed no more').getByText('withdrawn').waitFor();
    letGo();
    await page.locator('.state-line').getByText('The agent has withdrawn this').waitFor();
  });

  test('[D17] a screen that was asked for before the live line stands shows what came until then', async () => {
    const { context, ids } = await openWith(['Decided meanwhile']);
    const page = await context.newPage();
    const line = gate();
    await page.route('**/desk/stream', async (route) => {
      await line.opened;
      await route.continue();
    });
    const { given, letGo } = await answerLate(page, '**/desk/history*');
    await page.goto('/history');
    await given;
    await (await bob()).decide(ids[0] ?? '', { status: 'approved' });
    const caughtUp = page.waitForRequest('**/desk/overview');
    line.open();
    await caughtUp;
    letGo();
    await page.locator('#main').getByText('Decided meanwhile').waitFor();
  });

  test('[D12] a refusal that comes after the news of who was first leaves the row as it is now', async () => {
    const { page, ids } = await openWith(['Who is first?', 'The next one']);
    await row(page, 'Who is first?').getByRole('link').click();
    await page.getByRole('radio', { name: 'Approve' }).click();
    const sent = gate();
    await page.route('**/decision', async (route) => {
      await sent.opened;
      await route.continue();
    });
    await page.keyboard.press(send);
    await row(page, 'Who is first?').getByText('approved').waitFor();
    await (await bob()).decide(ids[0] ?? '', { status: 'rejected', feedback: 'No.' });
    await row(page, 'Who is first?').getByText('rejected').waitFor();
    sent.open();
    await page.locator('.foot').getByText('Bob decided it first').waitFor();
    await row(page, 'Who is first?').getByText('rejected').waitFor();
  });

  test('[D14] pressed twice, undoing takes back once, and says nothing else', async () => {
    const { page, ids } = await openWith(['Taken back']);
    const desk = await server().desk();
    await desk.decide(ids[0] ?? '', { status: 'approved' });
    await page.goto(`/d/${ids[0]}`);
    await page.locator('.state-line').getByRole('button', { name: 'Undo' }).waitFor();
    const { given, letGo } = await answerLate(page, '**/decision');
    await page.keyboard.press('z');
    await given;
    await page.keyboard.press('z');
    await everythingAsked(page);
    letGo();
    await page.locator('.foot').getByText('waits for you again').waitFor();
    await everythingAsked(page);
    await counted(page.getByText('already gone out'), 0);
  });

  test('[D37] who leaves while words are being saved loses none of those that came after', async () => {
    const { page, ids } = await openWith(['Many words']);
    await row(page, 'Many words').getByRole('link').click();
    await page.getByRole('radio', { name: 'Approve' }).click();
    const field = page.getByLabel('Anything for next time?');
    const [asked, never] = [gate(), gate()];
    await page.route(
      '**/draft',
      async () => {
        asked.open();
        await never.opened;
      },
      { times: 1 },
    );
    await field.fill('The beginning');
    await asked.opened;
    await field.fill('The beginning and the end');
    await page.goto('/docs');
    const desk = await server().desk();
    await until('the last words are kept', async () => {
      const { json } = await desk.request<{ draft: { feedback: string } | null }>(
        'GET',
        `/desk/deliveries/${ids[0]}`,
      );
      return json.draft?.feedback === 'The beginning and the end';
    });
    never.open();
  });

  test('[D39] of two choices the later one counts, also when the first is slow to reach the server', async () => {
    const watched = await openPage(browser(), server());
    const { page } = watched;
    await logIn(watched, server(), '/settings/reading', BOB);
    await page.getByRole('radio', { name: 'Dark' }).waitFor();
    const first = gate();
    const taken: number[] = [];
    page.on('response', (response) => {
      if (response.request().method() === 'PUT') taken.push(response.status());
    });
    await page.route(
      '**/desk/preferences',
      async (route) => {
        await first.opened;
        await route.continue();
      },
      { times: 1 },
    );
    await page.getByRole('radio', { name: 'Dark' }).click();
    await page.getByRole('radio', { name: 'Light' }).click();
    await everythingAsked(page);
    first.open();
    await expect.poll(() => taken, { timeout: 120_000 }).toEqual([200, 200]);
    const { json } = await (await bob()).request<{ theme: string }>('GET', '/desk/preferences');
    expect(json.theme).toBe('light');
  });

  test('[D37] words to several at once are those that the sheet shows, also while others are being sent', async () => {
    const { page, agent, ids } = await openWith(['Sent first', 'Sent second']);
    await openAll(page, agent, ids);
    await page.goto(`/?agent=${agent.id}`);
    const sheet = page.getByRole('dialog', { name: 'Reject together' });
    const why = sheet.getByLabel('Why not?');
    await checkAll(page, ['Sent first']);
    await page.getByRole('button', { name: 'Reject…' }).click();
    await why.fill('The first reason.');
    const { given, letGo } = await answerLate(page, '**/decision');
    await page.keyboard.press(send);
    await given;
    await checkAll(page, ['Sent second']);
    await page.getByRole('button', { name: 'Reject…' }).click();
    await holds(why, '');
    await why.fill('The second reason.');
    const answered = page.waitForResponse('**/decision');
    letGo();
    await answered;
    await everythingAsked(page);
    await page.keyboard.press(send);
    const desk = await server().desk();
    await until('the second is held', async () => (await desk.detail(ids[1] ?? '')).state === 'held');
    expect((await desk.detail(ids[1] ?? '')).decisions[0]?.feedback).toBe('The second reason.');
  });

  test('what is changed on a card while it is being kept is still to be kept', async () => {
    const { page, agent } = await openWith([]);
    await page.goto(`/agents/${agent.id}`);
    const card = page.getByRole('region', { name: 'Card' });
    await card.getByRole('button', { name: 'Edit the card' }).click();
    const field = card.getByLabel('What it does');
    await field.fill('It reads.');
    const { given, letGo } = await answerLate(page, '**/card');
    await card.getByRole('button', { name: 'Keep it' }).click();
    await given;
    await field.fill('It reads and writes.');
    letGo();
    await card.getByText('What you have changed since is still to be kept.').waitFor();
    await holds(field, 'It reads and writes.');
    await card.getByRole('button', { name: 'Keep it' }).click();
    await card.getByRole('button', { name: 'Edit the card' }).waitFor();
    await card.locator('.card-description').getByText('It reads and writes.').waitFor();
  });

  test('[D19] who goes elsewhere while an agent is being made stays there, and its key waits on its page', async () => {
    const { page } = await openWith([]);
    await page.goto('/agents');
    await page.getByLabel('Name').fill('slowly-made');
    const { given, letGo } = await answerLate(page, '**/desk/agents');
    const made = page.waitForResponse((reply) => reply.request().method() === 'POST');
    await page.getByRole('button', { name: 'Make it' }).click();
    await given;
    await page.getByRole('link', { name: 'History' }).click();
    await page.getByRole('heading', { name: 'History' }).waitFor();
    letGo();
    await made;
    await everythingAsked(page);
    expect(new URL(page.url()).pathname).toBe('/history');
    await page.getByRole('link', { name: 'Agents' }).click();
    await page.getByRole('link', { name: 'slowly-made' }).click();
    await page.getByRole('region', { name: 'Shown once' }).getByText('Key, as WAKE_API_KEY').waitFor();
  });

  test('[D19] the first key, too, waits for who goes elsewhere while it is being made', async () => {
    const { page } = await openDesk(browser());
    const { given, letGo } = await answerLate(page, '**/desk/agents');
    const made = page.waitForResponse((reply) => reply.request().method() === 'POST');
    await page.getByRole('button', { name: 'Make a test key' }).click();
    await given;
    await page.getByRole('link', { name: 'Agents' }).click();
    await page.getByRole('heading', { name: 'Agents' }).waitFor();
    letGo();
    await made;
    await page.getByRole('link', { name: 'my-agent' }).click();
    await page.getByRole('region', { name: 'Shown once' }).getByText('Key, as WAKE_API_KEY').waitFor();
  });
});
