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
    const shoot = async (what: string) => {
      await settled(page);
      await page.evaluate(() =>
        Promise.allSettled(document.getAnimations().map((motion) => motion.finished)),
      );
      await page.screenshot({ path: `${PICTURES}/${what}-${name}.png` });
    };
    await page.goto('/');
    await shoot('inbox');
    await page.goto(`/tasks/${task}`);
    await page.getByRole('table').waitFor();
    await shoot('task');
    if (name === 'desktop-light') {
      for (const screen of ['sit', 'history', 'agents', 'tasks', 'insights']) {
        await page.goto(`/${screen}`);
        await shoot(screen);
      }
      await openCardEditor(page);
      await page.getByRole('region', { name: 'Card' }).scrollIntoViewIfNeeded();
      await shoot('card');
    }
    await openDelivery(page, 'Letter to the tax office');
    await shoot('revision');
    // Last, because what was begun here would also stand in the sitting.
    await openDelivery(page, 'Pay the invoice');
    await page.getByRole('radio', { name: 'Redirect' }).click();
    await page.getByLabel('What should be different?').fill('The usual amount, please.');
    await shoot('composer');
  });
});
