import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { newAgent, sharedServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import {
  addBob,
  BOB,
  checkAll,
  counted,
  everythingAsked,
  focused,
  gate,
  HELD_LONG,
  holds,
  isInSight,
  logIn,
  openAll,
  openPage,
  openPalette,
  openQuestions,
  rememberingBrowser,
  row,
  send,
  sharedBrowser,
} from './room.ts';

const browser = sharedBrowser();
const server = sharedServer(HELD_LONG, addBob);

const openWith = (headlines: readonly string[]) => openQuestions(browser(), server(), headlines);

/** Every request of this kind that the page makes from now on. */
function requestsOf(page: Page, method: string, end: RegExp): string[] {
  const asked: string[] = [];
  page.on('request', (request) => {
    if (request.method() === method && end.test(new URL(request.url()).pathname)) asked.push(request.url());
  });
  return asked;
}

/** Holds requests of this kind back until each is released. */
async function heldBack(page: Page, end: RegExp): Promise<(() => void)[]> {
  const held: (() => void)[] = [];
  await page.route(end, async (route) => {
    const { opened, open } = gate();
    if (route.request().method() === 'GET') open();
    else held.push(open);
    await opened;
    await route.continue();
  });
  return held;
}

describe('nothing is sent that was not meant', () => {
  test('two hasty presses, or a double click, send one answer: the draft that comes next has not been looked at', async () => {
    const { page, agent, ids } = await openWith(['First of two', 'Second of two']);
    const desk = await server().desk();
    const draft = { mode: 'approved', feedback: 'Begun.', edited_content: null };
    for (const id of ids) await desk.request('PUT', `/desk/deliveries/${id}/draft`, draft);
    await page.goto(`/d/${ids[0]}?agent=${agent.id}`);
    const field = page.getByLabel('Anything for next time?');
    await holds(field, 'Begun.');
    await field.fill('Looked at.');
    const asked = requestsOf(page, 'POST', /\/decision$/);
    // No time passes between the two presses, however slow the machine is.
    await page.evaluate(() => {
      const at = performance.now();
      performance.now = () => at;
    });
    await page.keyboard.press(send);
    await page.getByRole('heading', { name: 'Second of two' }).waitFor();
    await holds(field, 'Begun.');
    await page.keyboard.press(send);
    await page.locator('.send').click();
    await everythingAsked(page);
    expect(asked).toHaveLength(1);
    await field.fill('Now it was.');
    await page.keyboard.press(send);
    await until('the second is held', async () => (await desk.detail(ids[1] ?? '')).state === 'held');
  });

  test('an undo that would overtake its answer waits for it, and takes it back', async () => {
    const { page, agent, ids } = await openWith(['Overtaken']);
    await openAll(page, agent, ids);
    const { opened, open } = gate();
    await page.route('**/decision', async (route) => {
      if (route.request().method() === 'POST') await opened;
      await route.continue();
    });
    await page.keyboard.press('a');
    await page.keyboard.press(send);
    await page.locator('.foot').getByText('Overtaken').waitFor();
    await page.keyboard.press('z');
    await everythingAsked(page);
    open();
    await page.getByText('waits for you again').waitFor();
    await counted(page.getByText('already gone out'), 0);
    expect((await (await server().desk()).detail(ids[0] ?? '')).state).toBe('pending');
  });

  test('a second press makes no second key, and what was made for one agent stands on no other’s page', async () => {
    const { page, agent } = await openWith([]);
    const other = await newAgent(await server().desk());
    await page.goto(`/agents/${other.id}`);
    await page.getByRole('heading', { name: other.id }).waitFor();
    await openPalette(page);
    await page.keyboard.type(agent.id);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: agent.id }).waitFor();
    const asked = requestsOf(page, 'POST', /\/keys$/);
    await page.getByRole('button', { name: 'Another live key' }).dblclick();
    await page.getByText('The new key, this once.').waitFor();
    await everythingAsked(page);
    expect(asked).toHaveLength(1);
    // The reply gets lost: what was made is shown, and nobody is told to make another.
    const keys = page.getByRole('region', { name: 'Keys' }).getByRole('listitem');
    await counted(keys, 2);
    await page.route('**/keys', async (route) => {
      await route.fetch();
      await route.abort();
    });
    await page.getByRole('button', { name: 'Another test key' }).click();
    await page.getByText('did not answer, so nobody knows whether it was done.').waitFor();
    await counted(keys, 3);
    await openPalette(page);
    await page.keyboard.type(other.id);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: other.id }).waitFor();
    await counted(page.getByText('The new key, this once.'), 0);
  });

  test('a key that is held down does not give its own consent, and the focus comes back', async () => {
    const { page, agent } = await openWith([]);
    await page.goto(`/agents/${agent.id}`);
    const keys = page.getByRole('region', { name: 'Keys' });
    const asked = requestsOf(page, 'DELETE', /\/keys\//);
    await keys.getByRole('button', { name: 'Revoke' }).focus();
    for (let times = 0; times < 3; times++) await page.keyboard.down('Enter');
    await page.keyboard.up('Enter');
    await keys.getByText('The agent stops at once.').waitFor();
    await everythingAsked(page);
    expect(asked).toEqual([]);
    await keys.getByRole('button', { name: 'Leave it' }).press('Enter');
    await focused(keys.getByRole('button', { name: 'Revoke' }));
  });
});

describe('together', () => {
  const [one, two, gone] = ['Together one', 'Together two', 'Together gone'] as const;

  test('one that was deleted is left out; what cannot be sent stays checked, and what was to be said stays written', async () => {
    const { page, agent, ids } = await openWith([one, two, gone]);
    await openAll(page, agent, ids);
    await row(page, gone).waitFor();
    await checkAll(page, [one, two, gone]);
    await page.route(`**/desk/deliveries/${ids[2]}`, (route) =>
      route.fulfill({ status: 404, json: { error: { code: 'not_found', message: 'x' } } }),
    );
    await page.route('**/decision', (route) =>
      route.fulfill({ status: 503, json: { error: { code: 'unavailable', message: 'x' } } }),
    );
    await page.getByRole('button', { name: 'Reject…' }).click();
    const sheet = page.getByRole('dialog', { name: 'Reject together' });
    await sheet.getByRole('region', { name: 'Not included' }).getByText('no longer here').waitFor();
    const why = sheet.getByLabel('Why not?');
    await why.fill('All of it is too dear.');
    await markAndLetGoOutside(page);
    await holds(why, 'All of it is too dear.');
    await sheet.getByRole('button', { name: 'Reject two deliveries' }).click();
    await page.getByText('Two were not answered; they are still checked.').waitFor();
    await page.getByText('Two checked.').waitFor();
    await page.unroute('**/decision');
    await page.getByRole('button', { name: 'Reject…' }).click();
    await holds(why, 'All of it is too dear.');
    await page.keyboard.press(send);
    await row(page, two).getByText('Rejected, not sent yet').waitFor();
  });

  test('the session ends while the sheet is open: the login comes first, hears its own keys only, and the sheet stays', async () => {
    const { page, agent, ids } = await openWith([one]);
    await openAll(page, agent, ids);
    await row(page, one).waitFor();
    await checkAll(page, [one]);
    await page.getByRole('button', { name: 'Approve…' }).click();
    const words = page
      .getByRole('dialog', { name: 'Approve together' })
      .getByLabel('Anything for next time?');
    await words.fill('Go on.');
    await page.clock.install();
    await page.evaluate(() => fetch('/desk/session', { method: 'DELETE' }));
    const login = page.getByRole('dialog', { name: 'Log in again' });
    await focused(login.getByLabel('Password'));
    const asked = requestsOf(page, 'POST', /\/decision$/);
    // Nobody would be answered: a page that is left like this overnight asks for nothing.
    const line = requestsOf(page, 'GET', /\/desk\/(?:stream|session)$/);
    await page.keyboard.press(send);
    // But for the first moments, in which somebody may log in in another tab.
    await until('the line rests', async () => {
      line.length = 0;
      await page.clock.runFor(60_000);
      await everythingAsked(page);
      return line.length === 0;
    });
    expect(asked).toEqual([]);
    await page.keyboard.type('correct horse battery');
    await page.keyboard.press('Enter');
    await login.waitFor({ state: 'hidden' });
    await holds(words, 'Go on.');
    await until('the line is there again', async () => line.some((url) => url.endsWith('/stream')));
  });
});

/** From the middle of what has the focus to the corner of the window, with the button held down. */
async function markAndLetGoOutside(page: Page): Promise<void> {
  const box = await page.locator(':focus').boundingBox();
  await page.mouse.move((box?.x ?? 0) + 20, (box?.y ?? 0) + 10);
  await page.mouse.down();
  await page.mouse.move(4, 4);
  await page.mouse.up();
}

describe('the page says what is so', () => {
  test('a refusal keeps what was typed, and tells nobody that they are logged out unless they are', async () => {
    const { page, agent } = await openWith([]);
    await page.goto('/settings');
    await page.getByRole('radio', { name: 'By webhook' }).click();
    const target = page.getByLabel('To this https address');
    await target.fill('http://plain.example.com/hook');
    await page.getByRole('button', { name: 'Turn it on' }).click();
    await page.getByText(/https/).last().waitFor();
    await page.getByText('Off. Nothing is ever sent to you.').waitFor();
    await holds(target, 'http://plain.example.com/hook');
    // Beside what was done, and in sight, however long the page.
    await page.route('**/desk/preferences', (route) =>
      route.fulfill({ status: 422, json: { error: { code: 'x', message: 'Not at this hour.' } } }),
    );
    await page.getByRole('button', { name: 'Add a sitting' }).click();
    const why = page.getByRole('region', { name: 'Sittings' }).getByText('Not at this hour.');
    await why.waitFor();
    expect(await isInSight(why)).toBe(true);
    await page.goto(`/agents/${agent.id}`);
    await page.getByRole('button', { name: 'Edit the card' }).click();
    const does = page.getByLabel('What it does, in a sentence or two');
    await does.fill('Half a sentence');
    const later = page.waitForResponse((reply) => reply.url().endsWith(agent.id) && reply.status() === 500);
    await page.route(`**/desk/agents/${agent.id}`, (route) => route.fulfill({ status: 500, body: '' }));
    await server().wake(agent.key).delivered({ agent_id: agent.id, headline: 'Something happens' });
    await later;
    await everythingAsked(page);
    await holds(does, 'Half a sentence');
    await page.getByRole('button', { name: 'Leave it as it was' }).click();
    await page.goto('/settings/security');
    await page.route('**/desk/session', (route) =>
      route.request().method() === 'DELETE' ? route.abort() : route.continue(),
    );
    await page.getByRole('button', { name: 'Log out', exact: true }).click();
    await page.getByText('You are still logged in. The server cannot be reached.').waitFor();
  });

  test('a list or a sitting that cannot be loaded says why, and loads when asked again', async () => {
    const { page, agent } = await openWith(['Had at last']);
    // Without live updates the page does not recover by itself, so the button stays to be pressed.
    await page.route('**/desk/stream', (route) => route.abort());
    const lists = /\/desk\/deliveries\?/;
    const refuse = (status: number) =>
      page.route(lists, (route) => route.fulfill({ status, json: { error: { code: 'x', message: 'x' } } }));
    await refuse(507);
    await page.goto(`/?agent=${agent.id}`);
    await page.getByText('The disk of the server is full.').waitFor();
    await page.unroute(lists);
    await page.getByRole('button', { name: 'Try again' }).click();
    await row(page, 'Had at last').waitFor();
    // On paper, too: dark words on white, and as high as it is.
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    await page.setViewportSize({ width: 790, height: 1100 });
    expect((await row(page, 'Had at last').boundingBox())?.height).toBeGreaterThan(20);
    const ink = () => getComputedStyle(document.body).color;
    expect(await page.evaluate(ink)).toBe('rgb(27, 35, 31)');
    await page.emulateMedia({ media: 'screen', colorScheme: 'light' });
    await refuse(500);
    await page.goto('/sit');
    await page.getByText('made a mistake and noted it').waitFor();
    await page.unroute(lists);
    const one = /\/desk\/deliveries\/[^/?]+$/;
    await page.route(one, (route) => route.fulfill({ status: 500, body: '' }));
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: /^1 of / }).waitFor();
    await page.getByText('made a mistake and noted it').waitFor();
    await page.unroute(one);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('radio', { name: 'Approve' }).waitFor();
    const history = /\/desk\/history/;
    await page.route(history, (route) => route.fulfill({ status: 500, body: '' }));
    await page.goto('/history');
    await page.getByText('made a mistake and noted it').waitFor();
    await page.unroute(history);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('made a mistake and noted it').waitFor({ state: 'hidden' });
  });

  test('a prompt is never shown under the name of another framework, and can be asked for again', async () => {
    const { page, agent } = await openWith([]);
    await page.goto(`/agents/${agent.id}`);
    const part = page.getByRole('region', { name: 'Prompt' });
    await part.getByRole('button', { name: 'Copy the prompt' }).waitFor();
    await page.route('**/prompt?framework=mastra', (route) => route.fulfill({ status: 500, body: '' }));
    await part.getByLabel('Framework').selectOption('mastra');
    await part.getByText('made a mistake and noted it').waitFor();
    await counted(part.getByRole('button', { name: 'Copy the prompt' }), 0);
    await holds(part.getByLabel('Framework'), 'mastra');
    await page.unroute('**/prompt?framework=mastra');
    await part.getByRole('button', { name: 'Try again' }).click();
    await part.getByText('@lanternroom/adapters/mastra').first().waitFor();
  });

  test('a server that is away is not called ready', async () => {
    const { page } = await openWith([]);
    await page.goto('/settings/system');
    await page.getByText('Ready: it accepts and answers requests.').waitFor();
    await page.route('**/readyz', (route) => route.abort());
    await page.clock.install();
    await page.reload();
    await page.getByText('It cannot be reached from here').waitFor();
  });

  test('on a slow line a role stays as it was chosen, and what is taken back is taken back once', async () => {
    const { page } = await openWith([]);
    await page.goto('/settings/people');
    await page.getByLabel('E-mail').fill('slow@example.com');
    await page.getByRole('button', { name: 'Make a link' }).click();
    const role = page.getByLabel('Role of Bob');
    const changes = await heldBack(page, /\/desk\/(?:people|invitations)\/[^/]+$/);
    await role.selectOption('reader');
    await until('the role is on its way', async () => changes.length === 1);
    await holds(role, 'reader');
    await page.getByRole('button', { name: 'Take it back' }).dblclick();
    await until('both are on their way', async () => changes.length === 2);
    await everythingAsked(page);
    expect(changes).toHaveLength(2);
    for (const go of changes) go();
    await page.getByText('Bob is now reader.').waitFor();
    await holds(role, 'reader');
    await counted(page.getByRole('button', { name: 'Take it back' }), 0);
    await role.selectOption('decider');
    await until('it is on its way, too', async () => changes.length === 3);
    changes.at(-1)?.();
    await page.getByText('Bob is now decider.').waitFor();
  });

  test('where there are many agents, the way to a new one is at the top', async () => {
    const { page } = await openWith([]);
    const desk = await server().desk();
    for (let n = 0; n < 7; n++) await newAgent(desk);
    await page.goto('/agents');
    await page.getByRole('button', { name: 'Make a new agent' }).click();
    const name = page.getByRole('region', { name: 'A new agent' }).getByLabel('Name');
    await focused(name);
    expect(await isInSight(name)).toBe(true);
  });

  test('somebody else logs in in another tab: this one becomes theirs', async () => {
    const { page, context } = await openWith([]);
    await page.goto('/settings/people');
    await page.getByRole('heading', { name: 'Invite somebody' }).waitFor();
    const anew = page.waitForEvent('load');
    const reply = await context.request.post(`${server().url}/desk/session`, {
      data: BOB,
      headers: { origin: server().url },
    });
    expect(reply.status()).toBe(200);
    await anew;
    await page.waitForURL(`${server().url}/`);
  });

  test('what takes the server long is waited for, not called unreachable', async () => {
    const { page } = await openWith([]);
    await page.clock.install();
    await page.goto('/audit');
    const { opened, open } = gate();
    await page.route('**/desk/audit/verify', async (route) => {
      await opened;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Verify now' }).click();
    const busy = page.getByRole('button', { name: 'Following the chain…' });
    await busy.waitFor();
    for (let minute = 0; minute < 3; minute++) await page.clock.runFor(60_000);
    await everythingAsked(page);
    expect(await busy.isVisible()).toBe(true);
    open();
    await page.getByText('Chain verified at').waitFor();
  });

  test('Back after logging out shows nothing of what was there', async () => {
    const watched = await openPage(await rememberingBrowser(), server());
    await logIn(watched, server(), '/settings/security');
    const { page } = watched;
    await page.getByText('this browser').waitFor();
    await page.evaluate(() => {
      addEventListener('pageshow', ({ persisted }) => {
        const isSeen = document.body.checkVisibility();
        sessionStorage.setItem('back', JSON.stringify({ persisted, isSeen }));
      });
    });
    await page.getByRole('button', { name: 'Log out', exact: true }).click();
    await page.waitForURL('**/login');
    await page.evaluate(() => history.back());
    await page.waitForURL(/\/login\?next=/);
    const back = await page.evaluate(() => sessionStorage.getItem('back'));
    expect(JSON.parse(back ?? 'null')).toEqual({ persisted: true, isSeen: false });
  });

  test('by a name in the house, without https, the desk opens, and its secrets can be copied', async () => {
    const { page, trouble } = await openPage(browser(), server(), { isPlain: true });
    await page.goto('/login');
    await page.getByLabel('E-mail').fill(BOB.email);
    await page.getByLabel('Password').fill(BOB.password);
    await page.keyboard.press('Enter');
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
    await page.goto('/agents/agent-01');
    await page.getByRole('button', { name: 'Copy the address' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate(() => [isSecureContext, typeof navigator.clipboard])).toEqual([
      false,
      'undefined',
    ]);
    expect(trouble).toEqual([]);
  });
});

describe('the offline shell', () => {
  test('a new version takes the parts of the one before away', async () => {
    const { page } = await openPage(browser(), server(), { hasWorker: true });
    await page.goto('/login');
    const kept = () =>
      page.evaluate(async () => {
        const cache = await caches.open('lanternroom-shell-1');
        return (await cache.keys()).map(({ url }) => new URL(url).pathname);
      });
    await until('the worker has the page and its parts', async () => {
      const names = await kept();
      return names.includes('/') && names.some((name) => name.startsWith('/assets/'));
    });
    await page.evaluate(async () => {
      const cache = await caches.open('lanternroom-shell-1');
      await cache.put('/', new Response('<script src="/assets/before.js"></script>'));
      await cache.put('/assets/before.js', new Response(''));
    });
    await page.reload();
    await page.getByLabel('E-mail').waitFor();
    await until('the old part is gone', async () => !(await kept()).includes('/assets/before.js'));
    await until('the new ones are kept', async () => (await kept()).some((name) => /index.*\.js/.test(name)));
  });
});
