import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { openCardEditor, openDelivery, overflow, settled, sharedFurnished } from './looking.ts';
import { focused, row, sharedBrowser } from './room.ts';

const furnished = sharedFurnished(sharedBrowser());

const sizeOf = (width: number) => ({ width, height: width < 700 ? 640 : 900 });

/** At the width it was opened with, and then, as a window is drawn wider, at each of the others. */
async function fits(
  page: Page,
  widths: readonly number[],
  what: string,
  also: () => Promise<void> = async () => {},
): Promise<void> {
  for (const width of widths) {
    await page.setViewportSize(sizeOf(width));
    await settled(page);
    expect(await overflow(page), `${what} at ${width} px`).toEqual([]);
    await also();
  }
}

/** Dots of ours that a line can begin or end with: those in the text, and those that are not cut off. */
const hangingDots = (page: Page) =>
  page.evaluate(() => {
    const elements = [...document.querySelectorAll('#main *')].filter(
      (element) => element.closest('.agent, .row-summary') === null,
    );
    const inText = elements.filter((element) =>
      [...element.childNodes].some(
        (node) => node.nodeType === 3 && /(^|\s)·(\s|$)/.test(node.nodeValue ?? ''),
      ),
    );
    const behind = elements.filter((element) => getComputedStyle(element, '::after').content.includes('·'));
    const unclipped = elements.filter(
      (element) =>
        getComputedStyle(element, '::before').content.includes('·') &&
        element.parentElement?.classList.contains('dotted') !== true,
    );
    return [...inText, ...behind, ...unclipped].map((element) => element.outerHTML.slice(0, 120));
  });

/** What is too small to be pressed. A link inside a sentence is as high as its line. */
const tooSmall = (page: Page, least: number) =>
  page.evaluate((least) => {
    const roomAround = (element: Element) => {
      const { content, position, height, width } = getComputedStyle(element, '::after');
      return content !== 'none' && position === 'absolute' ? [height, width].map(Number.parseFloat) : [0, 0];
    };
    const sizes = (element: Element) => {
      const { height, width } = element.getBoundingClientRect();
      return [height, width];
    };
    const found: string[] = [];
    for (const element of document.querySelectorAll(
      'a[href]:not(.skip), button, input, select, textarea, summary',
    )) {
      const isOfSentence = element.tagName === 'A' && getComputedStyle(element).display === 'inline';
      if (!element.checkVisibility({ contentVisibilityAuto: true })) continue;
      const label = element.closest('label');
      const areas = [sizes(element), roomAround(element), label === null ? [0, 0] : sizes(label)];
      const [height = 0, width = 0] = [0, 1].map((side) => Math.max(...areas.map((area) => area[side] ?? 0)));
      const isReached = element.matches('.plain, .reach') || !isOfSentence;
      if (isReached && (height < least - 0.5 || width < 24))
        found.push(`${Math.round(width)} × ${Math.round(height)}: ${element.outerHTML.slice(0, 120)}`);
    }
    return found;
  }, least);

describe('every screen', () => {
  test.each([
    { of: 'a mouse', least: 24, look: sizeOf(1280) },
    { of: 'a finger', least: 44, look: { ...sizeOf(390), isTouch: true } },
  ])('has room around everything that is pressed, for the tip of $of', async ({ least, look }) => {
    const { page, screens } = await furnished(look);
    for (const screen of screens) {
      await page.goto(screen);
      await settled(page);
      expect(await tooSmall(page, least), screen).toEqual([]);
    }
    await openDelivery(page, 'Pay the invoice');
    expect(await tooSmall(page, least), 'detail').toEqual([]);
  });

  test('fits a phone with type twice as large', async () => {
    const { page, screens } = await furnished({ ...sizeOf(390), isTouch: true });
    for (const screen of screens) {
      await page.goto(screen);
      await page.evaluate(() => document.documentElement.style.setProperty('font-size', '200%'));
      await settled(page);
      expect(await overflow(page), screen).toEqual([]);
      expect(await hangingDots(page), screen).toEqual([]);
    }
  });

  test('at 400 % zoom the rows have more than a slit, and the one the keys are at is seen', async () => {
    const { page } = await furnished({ width: 320, height: 256 });
    await page.locator('article.row').first().waitFor();
    for (const headline of ['Pay the invoice', 'Release notes', 'Letter to the tax office']) {
      await page.keyboard.press('j');
      await focused(row(page, headline).locator('a'));
    }
    const isSeen = () =>
      page.evaluate(() => {
        const { top, bottom } = document.activeElement?.getBoundingClientRect() ?? new DOMRect();
        const edge = document.querySelector('.rail')?.getBoundingClientRect().top ?? 0;
        return top >= 0 && bottom <= edge + 1;
      });
    await expect.poll(isSeen, { timeout: 60_000 }).toBe(true);
  });

  test.each([
    { by: 'touch', widths: [320, 360, 640, 768] },
    { by: 'mouse', widths: [1280, 1680] },
  ])('fits $widths px, without a loss to either side, by $by', async ({ by, widths }) => {
    const [first = 0] = widths;
    const { page, screens } = await furnished({ ...sizeOf(first), isTouch: by === 'touch' });
    for (const screen of screens) {
      await page.setViewportSize(sizeOf(first));
      await page.goto(screen);
      await fits(page, widths, screen);
    }
    await page.setViewportSize(sizeOf(first));
    await openCardEditor(page);
    await fits(page, widths, 'card editor');
    await page.setViewportSize(sizeOf(first));
    await openDelivery(page, 'Pay the invoice');
    await page.getByRole('radio', { name: 'Redirect' }).click();
    await page.getByRole('button', { name: 'Edit it myself' }).click();
    await page.getByLabel('Supplier').waitFor();
    const send = page.getByRole('button', { name: /^Redirect/ }).last();
    await fits(page, widths, 'composer', () => send.scrollIntoViewIfNeeded());
  });
});
