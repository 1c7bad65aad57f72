import { describe, expect, test } from 'vitest';
import { openCardEditor, openDelivery, overflow, settled, sharedFurnished } from './looking.ts';
import { sharedBrowser } from './room.ts';

const furnished = sharedFurnished(sharedBrowser());

describe('every screen', () => {
  test.each([320, 360, 640, 768, 1280, 1680])('fits %i px, without a loss to either side', async (width) => {
    const { page, screens } = await furnished({
      width,
      height: width < 700 ? 640 : 900,
      isTouch: width < 800,
    });
    for (const screen of screens) {
      await page.goto(screen);
      await settled(page);
      expect(await overflow(page), screen).toEqual([]);
    }
    await openCardEditor(page);
    expect(await overflow(page), 'card editor').toEqual([]);
    await openDelivery(page, 'Pay the invoice');
    await page.getByRole('radio', { name: 'Redirect' }).click();
    await page.getByRole('button', { name: 'Edit it myself' }).click();
    await page.getByLabel('Supplier').waitFor();
    await settled(page);
    expect(await overflow(page), 'composer').toEqual([]);
    await page
      .getByRole('button', { name: /^Redirect/ })
      .last()
      .scrollIntoViewIfNeeded();
  });
});
