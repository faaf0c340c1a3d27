import type { Locator, Page } from 'playwright-core';

/** Mouse and keyboard that count their use. A click holds at most one modifier, and a key is a press of one key. */
export interface CountedHands {
  clicks: number;
  keys: number;
  click(target: Locator, modifier?: 'Alt' | 'Shift'): Promise<void>;
  /** Click at a share of a slider's width. */
  slideTo(target: Locator, share: number): Promise<void>;
  /** Choose an option: one click opens the list, one takes the option. */
  choose(target: Locator, option: string): Promise<void>;
  press(...keys: string[]): Promise<void>;
}

export function countedHands(page: Page): CountedHands {
  return {
    clicks: 0,
    keys: 0,
    async click(target, modifier) {
      this.clicks += 1;
      await target.click(modifier === undefined ? {} : { modifiers: [modifier] });
    },
    async slideTo(target, share) {
      this.clicks += 1;
      const box = await target.boundingBox();
      if (box === null) throw new Error('The slider is not on the page.');
      // A click of the locator waits until the slider stands still; charts that load may move it.
      await target.click({ position: { x: box.width * share, y: box.height / 2 } });
    },
    async choose(target, option) {
      this.clicks += 2;
      await target.selectOption({ label: option });
    },
    async press(...keys) {
      for (const key of keys) {
        this.keys += 1;
        await page.keyboard.press(key);
      }
    },
  };
}
