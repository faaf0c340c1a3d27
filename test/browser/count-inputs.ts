import type { Page } from 'playwright-core';

/** Count what somebody presses from now on: mouse buttons, and keys. */
export async function countInputs(page: Page): Promise<() => Promise<{ clicks: number; keys: number }>> {
  await page.evaluate(() => {
    const counts = { clicks: 0, keys: 0 };
    Object.assign(window, { inputs: counts });
    window.addEventListener('pointerdown', () => (counts.clicks += 1), true);
    window.addEventListener('keydown', () => (counts.keys += 1), true);
  });
  return () =>
    page.evaluate(() => (window as unknown as { inputs: { clicks: number; keys: number } }).inputs);
}
