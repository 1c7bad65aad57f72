import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { openCardEditor, openDelivery, overflow, settled, sharedFurnished } from './looking.ts';
import { sharedBrowser } from './room.ts';

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

describe('every screen', () => {
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
