import { describe, expect, test } from 'vitest';
import { OWNER, Server } from '../support/server.ts';
import { given } from '../support/until.ts';
import { WakeClient } from '../support/wake.ts';
import {
  acceptAgent,
  addBob,
  BOB,
  counted,
  focused,
  holds,
  logIn,
  openDesk,
  openPage,
  row,
  sharedBrowser,
} from './room.ts';

const browser = sharedBrowser();
const NOBODY = {
  LANTERNROOM_INIT_EMAIL: undefined,
  LANTERNROOM_INIT_PASSWORD: undefined,
  LANTERNROOM_INIT_HANDLE: undefined,
  LANTERNROOM_INIT_AGENT: undefined,
  LANTERNROOM_INIT_AGENT_KEY: undefined,
  LANTERNROOM_INIT_CALLBACK_SECRET: undefined,
};

describe('coming in', () => {
  test('[D8] from the setup link to the first real delivery on the open page, with the token out of the address bar', async () => {
    const server = await Server.start({ env: NOBODY });
    const link = given(/http\S+\/setup#\S+/.exec(server.child.stdout)?.[0], 'setup link');
    const { page, trouble } = await openPage(browser(), server);
    await page.goto(link);
    await focused(page.getByLabel('E-mail'));
    await page.getByLabel('E-mail').fill('ada@example.com');
    await page.waitForURL(`${server.url}/setup`);
    await page.getByLabel('Your name').fill('Ada');
    await page.getByLabel('Password').fill('a sentence is a good password');
    await page.getByRole('button', { name: 'Open the desk' }).click();
    await page.getByRole('button', { name: 'Make a test key' }).click();
    const line = given(await page.locator('.copied .code').textContent(), 'line');
    const key = given(/wk_test_\w+/.exec(line)?.[0], 'key');
    await page.getByText('Waiting for the first delivery').waitFor();
    await new WakeClient(server.url, key).delivered({ agent_id: 'my-agent', headline: 'My first question' });
    await row(page, 'My first question').waitFor();
    expect(trouble).toEqual([]);
  });

  test('[D8] a setup link that was used says so, and loses nothing', async () => {
    const server = await Server.start();
    const { page } = await openPage(browser(), server);
    await page.goto('/setup#setup_0000');
    await page.getByLabel('E-mail').fill('eve@example.com');
    await page.getByLabel('Password').fill('a sentence is a good password');
    await page.getByRole('button', { name: 'Open the desk' }).click();
    await page.getByText('This link has been used').waitFor();
    await holds(page.getByLabel('E-mail'), 'eve@example.com');
  });

  test('[D1] a wrong password keeps what was typed, a right one leads where the person wanted to go', async () => {
    const server = await Server.start();
    const { page, trouble } = await openPage(browser(), server);
    await page.goto('/history?agent=agent-01');
    await focused(page.getByLabel('E-mail'));
    await page.keyboard.type(OWNER.email);
    await page.getByLabel('Password').fill('not this one at all');
    await page.keyboard.press('Enter');
    await page.getByText('do not match').waitFor();
    await holds(page.getByLabel('E-mail'), OWNER.email);
    // Wrong once more: the message is announced again, for eyes and for screen readers.
    const said = page.getByRole('alert');
    await said.evaluate((element) => element.setAttribute('data-old', ''));
    await page.keyboard.press('Enter');
    await page.locator('[role="alert"]:not([data-old])').waitFor();
    expect(await said.textContent()).toContain('do not match');
    await page.getByLabel('Password').fill(OWNER.password);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'History' }).waitFor();
    expect(new URL(page.url()).search).toBe('?agent=agent-01');
    expect(trouble).toEqual([]);
  });

  test('[D43] an invitation that is taken back takes its link with it', async () => {
    const { page } = await openDesk(browser(), { to: '/settings/people' });
    await page.getByLabel('E-mail').fill('bob@example.com');
    await page.getByRole('button', { name: 'Make a link' }).click();
    await page.getByText('It lets one person in.').waitFor();
    await page.getByRole('button', { name: 'Take it back' }).click();
    await counted(page.getByText('It lets one person in.'), 0);
  });

  test('an invitation lets one person in, in the role it names', async () => {
    const { server, page } = await openDesk(browser(), { to: '/settings/people' });
    await page.getByLabel('E-mail').fill('bob@example.com');
    await page.getByLabel('As', { exact: true }).selectOption('reader');
    await page.getByRole('button', { name: 'Make a link' }).click();
    const link = given(await page.locator('.once .code').textContent(), 'link');
    const guest = await openPage(browser(), server);
    await guest.page.goto(link);
    await guest.page.getByLabel('Your name').fill('Bob');
    await guest.page.getByLabel('Password').fill('a sentence is a good password');
    await guest.page.waitForURL(`${server.url}/join`);
    await guest.page.getByRole('button', { name: 'Join' }).click();
    await guest.page.getByText('Nothing has arrived yet').waitFor();
    await server.wake().delivered({ headline: 'Only for reading' });
    await row(guest.page, 'Only for reading').click();
    await guest.page.getByText('Deciding needs the role decider').waitFor();
    await counted(guest.page.getByRole('radio', { name: 'Approve' }), 0);
    await guest.page.keyboard.press('x');
    await guest.page.getByText('One checked.').waitFor();
    await guest.page.getByText('You can read here.').first().waitFor();
    await counted(guest.page.getByRole('button', { name: 'Approve…' }), 0);
  });

  test('[D44] a role that is given or taken while the page is open holds there at once', async () => {
    const { server, page } = await openDesk(browser(), { to: '/settings/people' });
    await acceptAgent(server);
    await addBob(server);
    const id = await server.wake().delivered({ headline: 'May Bob?' });
    const bob = await openPage(browser(), server);
    await logIn(bob, server, `/d/${id}`, BOB);
    await bob.page.getByRole('radio', { name: 'Approve' }).waitFor();
    await page.getByLabel('Role of Bob').selectOption('reader');
    await bob.page.getByText('Deciding needs the role decider').waitFor();
    await page.getByLabel('Role of Bob').selectOption('decider');
    await bob.page.getByRole('radio', { name: 'Approve' }).waitFor();
  });

  test('a sample agent is one click away, marked, and one click gone', async () => {
    const { page } = await openDesk(browser());
    await page.getByRole('button', { name: 'Bring a sample agent' }).click();
    await page.locator('article.row').first().waitFor();
    await page.locator('article.row', { hasText: 'sample' }).first().waitFor();
    await page.goto('/agents');
    await page.getByRole('button', { name: 'Remove the sample agent' }).click();
    await page.getByText('The sample is gone').waitFor();
    await page.goto('/');
    await page.getByText('Nothing').first().waitFor();
    await counted(page.locator('article.row'), 0);
  });

  test('[D2] logging out leaves nothing behind', async () => {
    const { server, page, context, trouble } = await openDesk(browser(), { to: '/settings/security' });
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByRole('heading', { name: 'Good to see you.' }).waitFor();
    expect((await context.request.get(`${server.url}/desk/session`)).status()).toBe(401);
    await logIn({ page, context, trouble }, server);
    await page.locator('.list-header').waitFor();
  });
});
