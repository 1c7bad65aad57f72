import { describe, expect, test } from 'vitest';
import { AGENT, type Server } from '../support/server.ts';
import { until } from '../support/until.ts';
import { counted, holds, openDesk, sharedBrowser } from './room.ts';
import { askAgent, PICTURE, TaskLaptop } from './task-laptop.ts';

const browser = sharedBrowser();
const AT_ONCE = { server: { env: { LANTERNROOM_UNDO_SECONDS: '0' } } };

async function openTasks(to = '/tasks') {
  const opened = await openDesk(browser(), { ...AT_ONCE, to });
  const laptop = await TaskLaptop.connect(opened.server);
  return { ...opened, laptop };
}

const stateOf = async (server: Server, id: string) =>
  (await (await server.desk()).request<{ state: string }>('GET', `/desk/tasks/${id}`)).json.state;

describe('tasks', () => {
  test('[D62] the list says what was asked, by whom and how far it is; filters stand in the address', async () => {
    const { server, page, laptop, trouble } = await openTasks();
    await page.getByText('No task yet.').waitFor();
    const id = await askAgent(server, 'Count the open invoices');
    const line = page.locator('.tasks > li', { hasText: 'Count the open invoices' });
    await line.getByText('Waiting for the agent').waitFor();
    await laptop.say({ type: 'accepted', taskId: id });
    await line.getByText('Being worked on').waitFor();
    await line.getByText(`asked by the agent ${AGENT.id}`).waitFor();
    await page.getByLabel('that are').selectOption('completed');
    await page.getByText('No task matches.').waitFor();
    expect(new URL(page.url()).search).toBe('?state=completed');
    await page.reload();
    await page.getByText('No task matches.').waitFor();
    await page.getByRole('link', { name: 'Show all' }).click();
    await line.waitFor();
    const place = () => line.boundingBox();
    const before = await place();
    await askAgent(server, 'A second one');
    await page.getByRole('button', { name: /^One new or changed — show/ }).waitFor();
    await counted(page.locator('.tasks > li'), 1);
    expect(await place()).toEqual(before);
    await page.keyboard.press('u');
    await until('the new one stands first', async () =>
      ((await page.locator('.tasks > li').first().textContent()) ?? '').includes('A second one'),
    );
    expect(trouble).toEqual([]);
  });

  test('[D62] [D63] a task is told live: words, a growing artifact, data, an image and a file to save', async () => {
    const { server, page, laptop, trouble } = await openTasks();
    const id = await askAgent(server, 'Write **the report**');
    await page.goto(`/tasks/${id}`);
    const told = page.getByRole('list', { name: 'What happened' });
    await told.locator('strong', { hasText: 'the report' }).waitFor();
    await laptop.say({ type: 'status', taskId: id, text: 'I have begun.' });
    await told.getByText('I have begun.').waitFor();
    const artifact = { artifactId: 'report', name: 'report.md' };
    await laptop.say({
      type: 'artifact',
      taskId: id,
      artifact: { ...artifact, parts: [{ text: '# Two ' }] },
    });
    await told.getByText('arriving…').waitFor();
    await laptop.say({
      type: 'artifact',
      taskId: id,
      append: true,
      lastChunk: true,
      artifact: { ...artifact, parts: [{ text: 'halves' }] },
    });
    await told.getByRole('heading', { name: 'Two halves' }).waitFor();
    const parts = [
      { data: { rows: 3, good: true } },
      { raw: PICTURE, mediaType: 'image/png', filename: 'dot.png' },
      {
        raw: Buffer.alloc(5000, '<script>').toString('base64'),
        mediaType: 'text/html',
        filename: 'page.html',
      },
    ];
    await laptop.say({ type: 'artifact', taskId: id, artifact: { artifactId: 'more', parts } });
    await told.getByText('Rows').waitFor();
    await until('the image is there', () =>
      told.getByRole('img', { name: 'dot.png' }).evaluate((img: HTMLImageElement) => img.naturalWidth > 0),
    );
    const saving = page.waitForEvent('download');
    await told.locator('figure', { hasText: 'page.html' }).getByRole('link', { name: 'Save it' }).click();
    expect((await saving).suggestedFilename()).toBe('page.html');
    await laptop.say({ type: 'completed', taskId: id, text: 'That is all.' });
    await page.getByText(/^Completed, since/).waitFor();
    await counted(page.getByRole('button', { name: 'Cancel the task' }), 0);
    expect(trouble).toEqual([]);
  });

  test('[D62] what was said on another day says which', async () => {
    const { server, page } = await openTasks();
    const id = await askAgent(server, 'Something slow');
    const earlier = new Date(Date.now() - 3 * 86_400_000);
    type Task = { log: { at: string }[] };
    await page.route(`**/desk/tasks/${id}*`, async (route) => {
      const reply = await route.fetch();
      const task = (await reply.json()) as Task;
      const log = task.log.map((entry) => ({ ...entry, at: earlier.toISOString() }));
      await route.fulfill({ response: reply, json: { ...task, log } });
    });
    await page.goto(`/tasks/${id}`);
    const day = earlier.toLocaleDateString('en', { weekday: 'long' });
    await page.locator('.told time', { hasText: day }).first().waitFor();
  });

  test('[D62] a person cancels a task, and a second look shows that it has ended', async () => {
    const { server, page, laptop, trouble } = await openTasks();
    const id = await askAgent(server, 'Something long');
    await laptop.say({ type: 'accepted', taskId: id });
    await page.goto(`/tasks/${id}`);
    await page.getByRole('button', { name: 'Cancel the task' }).click();
    await page.getByText('It cannot be taken up again.').waitFor();
    await page.keyboard.press('Enter');
    await page.getByText(/^Canceled, since/).waitFor();
    expect(await stateOf(server, id)).toBe('canceled');
    await page.goto('/tasks/task-that-never-was');
    await page.getByText('There is no such task here.').waitFor();
    expect(trouble).toEqual([]);
  });

  test('[D64] what a task needs stands in the inbox, with the same composer, and leads to the task', async () => {
    const { server, page, laptop, trouble } = await openTasks('/');
    const id = await askAgent(server, 'Order the paper');
    const artifact = { artifactId: 'offer', name: 'offer.md', parts: [{ text: 'Ten reams, **84 euros**' }] };
    await laptop.say({ type: 'artifact', taskId: id, artifact });
    await laptop.say({ type: 'input_required', taskId: id, text: 'May I order ten reams for 84 euros?' });
    await page.goto('/');
    await page.locator('article.row', { hasText: 'May I order ten reams' }).getByRole('link').click();
    await page.locator('.artifact strong', { hasText: '84 euros' }).waitFor();
    await page.getByRole('radio', { name: 'Approve' }).click();
    await page.getByLabel('Anything for next time?').fill('Five next time.');
    await page.keyboard.press('Control+Enter');
    await until('the task goes on', async () => (await stateOf(server, id)) === 'working');
    await page.goto(`/tasks/${id}`);
    await page.getByText('Five next time.').first().waitFor();
    expect(trouble).toEqual([]);
  });
});

describe('an agent that others call', () => {
  test('[D65] online and asleep are shown as they happen; a caller’s token is shown once and revoked', async () => {
    const { server, page, laptop, trouble } = await openTasks('/agents');
    const line = page.locator('.agents > li', { hasText: AGENT.id });
    await line.getByText('online', { exact: true }).waitFor();
    await laptop.close();
    await line.getByText(/^asleep, last seen/).waitFor();
    await page.goto(`/agents/${AGENT.id}`);
    await page.getByText(`${server.url}/@home/${AGENT.id}/`).first().waitFor();
    const part = page.getByRole('region', { name: 'Who may call' });
    await part.getByLabel('A caller from outside').fill('Nordlicht');
    await page.keyboard.press('Enter');
    const token = (await part.getByText(/^ct_\w{20,}/).textContent()) ?? '';
    expect(token).toMatch(/^ct_\w+$/);
    await part.getByText(/never used/).waitFor();
    await page.reload();
    await part.getByText('Nordlicht').waitFor();
    await counted(page.getByText(token), 0);
    await part.getByRole('button', { name: 'Revoke' }).click();
    await part.getByRole('button', { name: 'Revoke' }).click();
    await part.locator('li[data-over]').waitFor();
    expect(trouble).toEqual([]);
  });

  test('[D66] [D67] a card is edited with both forms beside it, saved, and signed again', async () => {
    const { page, trouble } = await openTasks(`/agents/${AGENT.id}`);
    const card = page.getByRole('region', { name: 'Card' });
    await card.getByRole('button', { name: 'Edit the card' }).click();
    await card.getByLabel(/^What it does/).fill('Counts invoices and asks before it pays.');
    await card.getByLabel('Who may call', { exact: true }).selectOption('listed');
    await card.getByRole('button', { name: 'Another skill' }).click();
    await card.getByLabel('Name').fill('Count invoices');
    await holds(card.getByLabel('ID', { exact: true }), 'count-invoices');
    await card.getByLabel('What it is good for').fill('Says how many are open.');
    await card.getByRole('region', { name: 'json' }).getByText('Says how many are open.').waitFor();
    await card.getByRole('button', { name: '0.3 and older' }).click();
    await card.getByRole('region', { name: 'json' }).getByText('"protocolVersion": "0.3.0"').waitFor();
    await card.getByRole('button', { name: 'Keep it' }).click();
    await card.getByText(/^The card is changed/).waitFor();
    const key = async () => (await card.locator('.signature .mono').textContent()) ?? '';
    const before = await key();
    await card.getByRole('button', { name: 'Make a new signing key' }).click();
    await card.getByRole('button', { name: 'Make a new signing key' }).click();
    await card.getByText('A new key signs from now on.').waitFor();
    await until('another key signs', async () => (await key()) !== before);
    await page.reload();
    await card.getByText('Counts invoices and asks before it pays.').first().waitFor();
    expect(trouble).toEqual([]);
  });

  test('[A18] an owner restricts where news of tasks may go, and drops the list again', async () => {
    const { page, trouble } = await openTasks('/settings/system');
    const part = page.getByRole('region', { name: 'Push notifications' });
    await part.getByText(/any public https address/).waitFor();
    await part.getByLabel('Only to this address').fill('https://partner.example.com/hooks');
    await page.keyboard.press('Enter');
    await part.getByText('https://partner.example.com/hooks', { exact: true }).waitFor();
    await part.getByLabel('Another address').fill('https://*.example.com');
    await page.keyboard.press('Enter');
    await part.getByText(/Replace the \*/).waitFor();
    await page.reload();
    await part.getByText(/may be sent to these/).waitFor();
    await part.getByRole('button', { name: 'Drop the list' }).click();
    await part.getByRole('button', { name: 'Drop the list' }).click();
    await part.getByText(/any public https address/).waitFor();
    expect(trouble).toEqual([]);
  });

  test('[D45] where a person is logged in is told by the name of the browser', async () => {
    const { page, trouble } = await openTasks('/settings/security');
    const part = page.getByRole('region', { name: 'Where you are logged in' });
    await part.getByText(/^Chrome on /).waitFor();
    await part.getByText('this browser').waitFor();
    expect(trouble).toEqual([]);
  });
});
