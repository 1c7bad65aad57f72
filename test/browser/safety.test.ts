import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Locator } from 'playwright-core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WEBHOOK_SECRET } from '../support/akep.ts';
import { Desk } from '../support/desk.ts';
import { FILES, MARKS, SPOOFS } from './hostile.ts';
import { filesOf, plant } from './hostile-everywhere.ts';
import { acceptAgent, counted, openDesk, sharedBrowser } from './room.ts';

const browser = sharedBrowser();

/** Whether a press in its middle would meet it, or its own label. */
function isOnTop(control: Locator): Promise<boolean> {
  return control.evaluate((element) => {
    element.scrollIntoView({ block: 'center' });
    const shown = element.closest('label') ?? element;
    const { left, top, width, height } = shown.getBoundingClientRect();
    const met = document.elementFromPoint(left + width / 2, top + height / 2);
    return met !== null && (shown.contains(met) || met.contains(shown));
  });
}

describe('reading is safe', () => {
  test.each([false, true])(
    'the hostile corpus is inert text (content policy bypassed: %s)',
    async (ignoresPolicy) => {
      const { server, page, trouble } = await openDesk(browser(), { look: { ignoresPolicy } });
      await acceptAgent(server);
      const all = [...MARKS, ...SPOOFS];
      const bodies = [
        { details: all.join('\n\n') },
        { details: Object.fromEntries(all.map((text, index) => [`k${index} ${text.slice(0, 40)}`, text])) },
        { details: { rows: all.map((text, index) => ({ index, text })), deep: { list: all } } },
        { details: { blocks: all.map((text) => ({ type: 'markdown', text })) } },
        {
          details: {
            blocks: [
              ...all.map((src) => ({ type: 'image', src, alt: src })),
              ...all.map((url) => ({ type: 'link', url, title: url })),
            ],
          },
        },
      ];
      for (const [index, body] of bodies.entries()) {
        const id = await server.wake().delivered({
          headline: `Hostile ${index} <img src=x onerror=window.__owned=20>`,
          summary: '<script>window.__owned=21</script>',
          ...body,
        });
        await page.goto(`/d/${id}`);
        await page.getByRole('radio', { name: 'Approve' }).waitFor();
        await page.locator('.details').waitFor();
        await page.waitForLoadState('networkidle');
        await page.keyboard.press('v');
        await page.locator('.exact .code').waitFor();
        await page.keyboard.press('v');
        expect(
          await page.evaluate(() => (window as unknown as { __owned?: number }).__owned),
        ).toBeUndefined();
      }
      expect(trouble).toEqual([]);
    },
  );

  test.each([false, true])(
    'whatever any protocol lets in is inert on every screen (content policy bypassed: %s)',
    async (ignoresPolicy) => {
      const env = { AKEP_WEBHOOK_SECRET: WEBHOOK_SECRET, LANTERNROOM_UNDO_SECONDS: '0' };
      const opening = { server: { env }, look: { ignoresPolicy } };
      const { server, page, trouble } = await openDesk(browser(), opening);
      await acceptAgent(server);
      const { paths, questions, task } = await plant(server);
      const isOwned = () => page.evaluate(() => (window as unknown as { __owned?: number }).__owned);
      for (const path of [...paths, ...questions.map((id) => `/d/${id}`)]) {
        await page.goto(path);
        await page.locator('main').first().waitFor();
        await page.waitForLoadState('networkidle');
        expect([path, await isOwned(), trouble]).toEqual([path, undefined, []]);
        const alien = page
          .locator('main')
          .locator('script, iframe, object, embed, form[action], base, meta, link');
        expect([path, await alien.count()]).toEqual([path, 0]);
        const wider = () => document.documentElement.scrollWidth - window.innerWidth;
        expect([path, await page.evaluate(wider)]).toEqual([path, 0]);
      }
      for (const id of questions) {
        await page.goto(`/d/${id}`);
        const approve = page.getByRole('radio', { name: 'Approve' });
        await approve.waitFor();
        expect([id, await isOnTop(approve)]).toEqual([id, true]);
      }
      const files = await filesOf(server, task);
      expect(files.length).toBeGreaterThanOrEqual(FILES.length);
      for (const path of files) {
        const reply = await (await server.desk()).open(path);
        expect([path, reply.headers.get('content-disposition')]).toEqual([
          path,
          expect.stringMatching(/^attachment; filename\*=UTF-8''[\w.%-]+$/),
        ]);
        expect(reply.headers.get('x-content-type-options')).toBe('nosniff');
        expect(reply.headers.get('content-type')).not.toMatch(/html|svg|xml|multipart/);
      }
    },
  );

  test('HTML is shown as the text it is; links show where they lead; what hides is named', async () => {
    const { server, page } = await openDesk(browser());
    await acceptAgent(server);
    const id = await server
      .wake()
      .delivered({ headline: 'Look closely', details: [...MARKS, ...SPOOFS].join('\n\n') });
    await page.goto(`/d/${id}`);
    const details = page.locator('.details');
    await details.locator('.markdown').waitFor();
    await details.getByText('<script>window.__owned = 1</script>').waitFor();
    expect(
      await details
        .locator('script, style, iframe, form, input, svg, object, [style], [onclick], [onerror]')
        .count(),
    ).toBe(0);
    const links = await details.locator('a').evaluateAll((all) =>
      all.map((a) => ({
        href: a.getAttribute('href'),
        rel: a.getAttribute('rel'),
        target: a.getAttribute('target'),
        text: a.textContent,
      })),
    );
    expect(links.map(({ href }) => href)).toEqual([
      'https://evil.example/auto',
      'https://evil.example/login',
      'https://xn--pple-43d.com/login',
    ]);
    for (const link of links) expect(link).toMatchObject({ rel: 'noopener noreferrer', target: '_blank' });
    expect(links.at(-1)?.text).toContain('xn--pple-43d.com');
    for (const name of ['U+202E', 'U+200B', 'U+2066', 'U+E0041', 'U+00AD'])
      await details.getByText(name).first().waitFor();
    await counted(details.locator('img'), 0);
  });

  test('what hides in a name is named: of people, and of the fields that are edited', async () => {
    const env = { LANTERNROOM_UNDO_SECONDS: '0' };
    const { server, page } = await openDesk(browser(), { server: { env } });
    await acceptAgent(server);
    const who = { email: 'other@example.com', password: 'correct horse battery' };
    const other = { ...who, name: 'owner\u200b', role: 'decider' };
    expect((await (await server.desk()).request('POST', '/desk/people', other)).status).toBe(201);
    const decided = await server.wake().delivered();
    await (await Desk.login(server.url, who)).decide(decided, { status: 'approved' });
    for (const path of ['/settings/people', '/history', `/d/${decided}`]) {
      await page.goto(path);
      await page.getByText('U+200B').first().waitFor();
    }
    const details = { 'a\u202e': 1, 'b\u200b': true, 'c\u00ad': null, 'd\u2066': { e: 1 } };
    const id = await server.wake().delivered({ details });
    await page.goto(`/d/${id}`);
    await page.getByRole('radio', { name: 'Redirect' }).click();
    await page.getByRole('button', { name: 'Edit it myself' }).click();
    const fields = page.locator('.edit .fields');
    for (const name of ['U+202E', 'U+200B', 'U+00AD', 'U+2066']) await fields.getByText(name).waitFor();
  });

  test('an image is fetched only after a click, and only through us', async () => {
    const { server, page, trouble } = await openDesk(browser());
    await acceptAgent(server);
    const id = await server
      .wake()
      .delivered({ headline: 'A picture', details: '![a chart](https://img.example/chart.png)' });
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await page.goto(`/d/${id}`);
    await page.getByRole('button', { name: 'Show it' }).waitFor();
    expect(asked.some((path) => path.endsWith('/image'))).toBe(false);
    await page.getByRole('button', { name: 'Show it' }).click();
    await page.getByText('It could not be fetched.').waitFor();
    expect(asked.some((path) => path.endsWith(`/deliveries/${id}/image`))).toBe(true);
    expect(trouble).toEqual([]);
  });

  test('[D6] a page elsewhere cannot decide with the person’s cookie', async () => {
    const { server, page, context } = await openDesk(browser());
    await acceptAgent(server);
    const id = await server.wake().delivered({ headline: 'Not from there' });
    const { content_sha256 } = await (await server.desk()).detail(id);
    const elsewhere = createServer((_, reply) =>
      reply.setHeader('content-type', 'text/html').end('<p>elsewhere'),
    );
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void elsewhere.close());
    const evil = await context.newPage();
    await evil.goto(`http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`);
    const attempt = ([url, hash]: [string, string]) =>
      Promise.all(
        ['application/json', 'text/plain'].map((type) =>
          fetch(url, {
            method: 'POST',
            credentials: 'include',
            mode: type === 'text/plain' ? 'no-cors' : 'cors',
            headers: { 'content-type': type },
            body: JSON.stringify({ status: 'approved', content_sha256: hash }),
          }).then(
            (reply) => reply.type,
            () => 'refused',
          ),
        ),
      );
    expect(
      await evil.evaluate(attempt, [`${server.url}/desk/deliveries/${id}/decision`, content_sha256] as [
        string,
        string,
      ]),
    ).not.toContain('cors');
    expect((await (await server.desk()).detail(id)).state).toBe('pending');
    await page.goto(`/d/${id}`);
    await page.getByRole('radio', { name: 'Approve' }).waitFor();
  });
});
