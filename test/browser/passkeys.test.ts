import type { BrowserContext, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { OWNER, Server } from '../support/server.ts';
import { counted, openPage, sharedBrowser } from './room.ts';

const browser = sharedBrowser();

/** A device that knows its person and says yes. */
async function plugIn(context: BrowserContext, page: Page): Promise<void> {
  const session = await context.newCDPSession(page);
  await session.send('WebAuthn.enable');
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}

async function typeIn(page: Page): Promise<void> {
  await page.getByLabel('E-mail').fill(OWNER.email);
  await page.getByLabel('Password').fill(OWNER.password);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('heading', { level: 1 }).first().waitFor();
}

async function openNamed() {
  const server = await Server.start();
  const { context, page, trouble } = await openPage(browser(), server, { isNamed: true });
  await plugIn(context, page);
  return { server, context, page, trouble };
}

/** What the server says ten minutes after the login; that it does is shown where time can be turned. */
const PROOF_NEEDED = {
  status: 403,
  json: { error: { code: 'proof_needed', message: 'Show once more that it is you.' } },
};

describe('passkeys', () => {
  test('[D54] one is added, named, used to log in, renamed and removed', async () => {
    const { page, trouble } = await openNamed();
    await page.goto('/login?next=/settings/security');
    await typeIn(page);
    const part = page.getByRole('region', { name: 'Passkeys' });
    await part.getByLabel(/^A name for it/).fill('My laptop');
    await page.keyboard.press('Enter');
    await part.getByText(/^The passkey is here/).waitFor();
    await part.getByText('not used yet').waitFor();

    await page.getByRole('button', { name: 'Log out', exact: true }).click();
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page.getByRole('navigation', { name: 'Main' }).waitFor();

    await page.goto('/settings/security');
    await part.getByText(/last used/).waitFor();
    await part.getByRole('button', { name: 'Rename' }).click();
    await part.getByLabel('A new name').fill('The old laptop');
    await page.keyboard.press('Enter');
    await part.getByText('The old laptop').waitFor();
    await part.getByRole('button', { name: 'Remove' }).click();
    await part.getByRole('button', { name: 'Remove' }).click();
    await part.getByText('The passkey is removed.').waitFor();
    await counted(part.getByText('The old laptop'), 0);

    await page.getByRole('button', { name: 'Log out', exact: true }).click();
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page
      .getByRole('alert')
      .getByText(/^This passkey is not known here/)
      .waitFor();
    expect(trouble).toEqual([]);
  });

  test('[D55] a session from earlier asks who is there, by password or by passkey, and goes on', async () => {
    const { page, trouble } = await openNamed();
    await page.goto('/login?next=/settings/security');
    await typeIn(page);
    const part = page.getByRole('region', { name: 'Passkeys' });
    const add = async (name: string) => {
      await part.getByLabel(/^A name for it/).fill(name);
      await part.getByRole('button', { name: 'Add a passkey' }).click();
    };
    let isEarlier = true;
    await page.route('**/desk/passkeys/challenge', (route) =>
      isEarlier ? route.fulfill(PROOF_NEEDED) : route.continue(),
    );
    await page.route('**/desk/proof', async (route) => {
      const response = await route.fetch();
      if (response.status() === 204) isEarlier = false;
      await route.fulfill({ response });
    });
    await add('First');
    const dialog = page.getByRole('dialog', { name: 'Is it you?' });
    await dialog.getByLabel('Your password').fill('not the password');
    await page.keyboard.press('Enter');
    await dialog.getByText('This is not your password.').waitFor();
    await dialog.getByLabel('Your password').fill(OWNER.password);
    await page.keyboard.press('Enter');
    await part.getByText(/^The passkey is here/).waitFor();

    isEarlier = true;
    await add('Second');
    await dialog.getByRole('button', { name: 'Use a passkey' }).click();
    // The device has one for this desk already, and says so: the proof itself was taken.
    await part.getByText('This device already has a passkey for this desk.').waitFor();
    expect(trouble).toEqual([]);
  });

  test('[D55][D45] so does making a token; and who changes the password ends the tokens with it', async () => {
    const server = await Server.start();
    const { page, trouble } = await openPage(browser(), server);
    await page.goto('/login?next=/settings/security');
    await typeIn(page);
    const tokens = page.getByRole('region', { name: 'Tokens for scripts' });
    const make = async (name: string) => {
      await tokens.getByLabel('What it is for').fill(name);
      await page.keyboard.press('Enter');
    };
    await make('first');
    await tokens.getByText('first').waitFor();
    await page.route('**/desk/tokens', (route) =>
      route.request().method() === 'POST' ? route.fulfill(PROOF_NEEDED) : route.continue(),
    );
    await make('second');
    const dialog = page.getByRole('dialog', { name: 'Is it you?' });
    await dialog.getByLabel('Your password').fill(OWNER.password);
    await page.unroute('**/desk/tokens');
    await page.keyboard.press('Enter');
    await tokens.getByText('second').waitFor();
    const shownOnce = tokens.getByText(/^lr_[0-9A-Za-z]{40}$/);
    await shownOnce.waitFor();

    const password = page.getByRole('region', { name: 'Password' });
    await password.getByLabel('The one you have').fill(OWNER.password);
    await password.getByLabel('The new one').fill('a whole new sentence');
    await page.keyboard.press('Enter');
    await password.getByText('Two tokens for scripts work as before.').waitFor();
    await password.getByRole('button', { name: 'Revoke them all' }).click();
    await password.getByRole('button', { name: 'Revoke them all' }).click();
    await password.getByText('Two tokens ended.').waitFor();
    await counted(tokens.getByRole('button', { name: 'Revoke' }), 0);
    await counted(shownOnce, 0);
    expect(trouble).toEqual([]);
  });

  test('[D54] at a bare address the way to the name is shown, and the login offers none', async () => {
    const server = await Server.start();
    const { page, trouble } = await openPage(browser(), server);
    await page.goto('/login?next=/settings/security');
    await page.getByLabel('Password').waitFor();
    await counted(page.getByRole('button', { name: 'Use a passkey' }), 0);
    await typeIn(page);
    const named = server.url.replace('127.0.0.1', 'localhost');
    await page.getByRole('link', { name: named }).waitFor();
    expect(trouble).toEqual([]);
  });

  test('[D56] an owner resets a person, who comes back through the link', async () => {
    const { server, page, trouble } = await openNamed();
    const desk = await server.desk();
    const other = { email: 'paul@example.com', password: 'a sentence of old' };
    await desk.request('POST', '/desk/people', { ...other, name: 'Paul', role: 'decider' });
    await page.goto('/login?next=/settings/people');
    await typeIn(page);
    const line = page.locator('.people > li', { hasText: 'Paul' });
    await line.getByRole('button', { name: 'Reset' }).click();
    await line.getByRole('button', { name: 'Reset' }).click();
    await page.getByText('Paul comes back by the link alone.').waitFor();
    const link = (await page.getByText(/\/reset#rs_/).textContent()) ?? '';
    await page.context().clearCookies();
    await page.goto(new URL(link).pathname + new URL(link).hash);
    await page.getByRole('heading', { name: 'A fresh start.' }).waitFor();
    await page.getByLabel('Password').fill('a whole new sentence');
    await page.keyboard.press('Enter');
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
    await page.goto('/settings/security');
    await page.getByRole('region', { name: 'Passkeys' }).waitFor();
    expect(trouble).toEqual([]);
  });
});
