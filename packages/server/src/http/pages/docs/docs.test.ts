import { describe, expect, test } from 'vitest';
import { FAULTS } from '../../../core/faults.ts';
import { openDesk } from '../../../testing/desk/desk.ts';
import { readTexts } from '../../package-files.ts';
import { frame } from './frame.ts';
import { Library, NAMED, OPERATIONS } from './library.ts';
import { toHtml } from './markdown.ts';

describe('/docs', () => {
  test('[D53] the docs link of an error leads to the place that describes it', async () => {
    const { world } = await openDesk();
    const reply = await world.get('/wake/v1/response/nothing');
    const { error } = (await reply.json()) as { error: { docs: string } };
    const link = new URL(error.docs);
    const page = await fetch(link);
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(await page.text()).toContain(`id="${link.hash.slice(1)}"`);
  });

  test('[D53] every fault has its place there', async () => {
    const { world } = await openDesk();
    const html = await (await fetch(`${world.url}/docs/errors`)).text();
    expect(FAULTS.filter((name) => !html.includes(`<h3 id="${name}">`))).toEqual([]);
  });

  test('[D53] the index lists documents and operations', async () => {
    const { world } = await openDesk();
    const html = await (await fetch(`${world.url}/docs`)).text();
    expect(html).toContain('href="/docs/errors"');
    expect(html).toContain('href="/docs/desk-api"');
    const operations = await (await fetch(`${world.url}/docs/operations`)).text();
    expect(operations).toContain('/wake/v1/deliver');
    expect(html).toContain('href="/docs/operations"');
  });

  test('[D53] every document has a place among the others, and every place its document', () => {
    const there = [...readTexts('docs').keys(), OPERATIONS];
    expect(NAMED.toSorted()).toEqual(there.toSorted());
  });

  test('[D53] every document names itself, its parts and the others, and its first sentence is whole', () => {
    const library = new Library(readTexts('docs'));
    for (const { documents } of library.shelves) {
      for (const { name, title, summary, text } of documents) {
        const html = frame(library, { title, body: toHtml(text), name });
        expect(html, name).toContain(`<a href="/docs/${name}" aria-current="page">`);
        for (const [, place] of html.matchAll(/href="#([\w-]+)"/g)) expect(html).toContain(`id="${place}"`);
        expect(summary, name).toMatch(/^\S[\s\S]{20,300}\.$/);
      }
    }
  });

  test('[D53] drawings come with them, and run nothing either', async () => {
    const { world } = await openDesk();
    const page = await (await fetch(`${world.url}/docs/performance`)).text();
    const [, src = ''] = /<img src="([^"]+)"/.exec(page.slice(page.indexOf('<main'))) ?? [];
    const drawing = await fetch(world.url + src);
    expect(drawing.headers.get('content-type')).toBe('image/svg+xml; charset=utf-8');
    expect(drawing.headers.get('content-security-policy')).toMatch(/^default-src 'none'/);
    for (const name of ['nothing', '..%2fgoals', 'goals.svg'])
      expect((await fetch(`${world.url}/docs/charts/${name}`)).status, name).toBe(404);
  });

  test('[D53] llms.txt leads a program to everything that is served, and nowhere else', async () => {
    const { world } = await openDesk();
    const text = await (await fetch(`${world.url}/llms.txt`)).text();
    const links = [...text.matchAll(/\]\((\S+)\)/g)].map(([, link = '']) => link);
    expect(links.length).toBeGreaterThan(8);
    for (const link of links) expect([link, (await fetch(link)).status]).toEqual([link, 200]);
  });

  test('[D53] with a slash at its end an address is the same, also for programs', async () => {
    const { world } = await openDesk();
    for (const path of ['/docs/', '/docs/errors/', '/docs//?x=1', '/healthz/', '/history/'])
      expect([path, (await fetch(`${world.url}${path}`)).status]).toEqual([path, 200]);
    expect((await world.get('/akep/events/')).status).toBe(200);
  });

  test('[D53] nothing runs in them, and what is not there is not found', async () => {
    const { world } = await openDesk();
    const page = await fetch(`${world.url}/docs/errors`);
    expect(page.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self'; base-uri 'none'/,
    );
    expect(await page.text()).not.toMatch(/<script|style=|onload/);
    for (const name of ['nothing', '..%2fpackage', '%2e%2e%2f%2e%2e%2fetc%2fpasswd'])
      expect((await fetch(`${world.url}/docs/${name}`)).status, name).toBe(404);
  });
});

describe('markdown', () => {
  test.each([
    ['the title', '# A `b`', '<h1 id="a-b">A <code>b</code></h1>'],
    [
      'a heading that leads to itself',
      '### not_found',
      '<h3 id="not_found"><a class="here" href="#not_found">not_found</a></h3>',
    ],
    [
      'a heading with code',
      '## The `x` file',
      '<h2 id="the-x-file"><a class="here" href="#the-x-file">The <code>x</code> file</a></h2>',
    ],
    ['a paragraph', 'one\ntwo **three**', '<p>one\ntwo <strong>three</strong></p>'],
    [
      'a fence',
      '```json\n{"a":"<b>"}\n```',
      '<pre tabindex="0"><code>{&quot;a&quot;:&quot;&lt;b&gt;&quot;}</code></pre>',
    ],
    ['an unfinished fence', '```\nleft open', '<pre tabindex="0"><code>left open</code></pre>'],
    ['indented code', '    a\n    b', '<pre tabindex="0"><code>a\nb</code></pre>'],
    ['a list', '- one\n  goes on\n- two', '<ul><li>one\ngoes on</li><li>two</li></ul>'],
    [
      'a table with a bar in code',
      '| a | b |\n|---|---|\n| `x|y` | z |',
      '<div class="wide" tabindex="0"><table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td><code>x|y</code></td><td>z</td></tr></tbody></table></div>',
    ],
    ['a link to a document', '[e](errors.md#not_found)', '<p><a href="/docs/errors#not_found">e</a></p>'],
    [
      'states',
      '```mermaid\nstateDiagram-v2\n    [*] --> due: <queued>\n    due --> done\n    done --> [*]\n```',
      '<div class="wide" tabindex="0"><table><thead><tr><th>from</th><th>to</th><th>by</th></tr></thead><tbody><tr><td>the beginning</td><td><code>due</code></td><td>&lt;queued&gt;</td></tr><tr><td><code>due</code></td><td><code>done</code></td><td></td></tr></tbody></table></div>',
    ],
    ['a drawing', '![Goals](charts/goals.svg)', '<p><img src="/docs/charts/goals" alt="Goals"></p>'],
    [
      'a drawing from elsewhere',
      '![x](https://a.test/x.svg)',
      '<p>!<a href="https://a.test/x.svg">x</a></p>',
    ],
    ['a link that is none', '[x](javascript:alert)', '<p>x</p>'],
    ['markup in text', '<img src=x onerror=alert(1)>', '<p>&lt;img src=x onerror=alert(1)&gt;</p>'],
    ['markup in a link', '[<b>](https://a.test/"x)', '<p><a href="https://a.test/&quot;x">&lt;b&gt;</a></p>'],
  ])('%s', (_, markdown, html) => {
    expect(toHtml(markdown)).toBe(html);
  });
});
