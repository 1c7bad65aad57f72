import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { openCardEditor, openDelivery, settled, sharedFurnished } from './looking.ts';
import { type Look, sharedBrowser } from './room.ts';

const furnished = sharedFurnished(sharedBrowser());

/** The pictures of the README are taken by the same test; ordinarily they go to a folder that nobody keeps. */
const PICTURES =
  process.env.UPDATE_SCREENSHOTS === '1' ? 'docs/screenshots' : mkdtempSync(join(tmpdir(), 'pictures-'));

describe('screenshots for the docs', () => {
  test.each([
    ['desktop-light', { width: 1280, height: 800 }],
    ['desktop-dark', { width: 1280, height: 800, dark: true }],
    ['phone-light', { width: 390, height: 780, isTouch: true }],
    ['phone-dark', { width: 390, height: 780, isTouch: true, dark: true }],
  ] as [string, Look][])('%s', async (name, look) => {
    const { page, task } = await furnished(look);
    const shoot = (what: string) => page.screenshot({ path: `${PICTURES}/${what}-${name}.png` });
    await page.goto('/');
    await settled(page);
    await shoot('inbox');
    await openDelivery(page, 'Letter to the tax office');
    await settled(page);
    await shoot('revision');
    await openDelivery(page, 'Pay the invoice');
    await page.getByRole('radio', { name: 'Redirect' }).click();
    await page.getByLabel('What should be different?').fill('The usual amount, please.');
    await settled(page);
    await shoot('composer');
    await page.goto(`/tasks/${task}`);
    await settled(page);
    await shoot('task');
    if (name !== 'desktop-light') return;
    for (const screen of ['sit', 'history', 'agents', 'tasks', 'insights']) {
      await page.goto(`/${screen}`);
      await settled(page);
      await shoot(screen);
    }
    await openCardEditor(page);
    await page.getByRole('region', { name: 'Card' }).scrollIntoViewIfNeeded();
    await shoot('card');
  });
});
