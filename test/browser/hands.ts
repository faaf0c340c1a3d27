import type { Locator, Page } from 'playwright-core';

/** How somebody uses a page: with the mouse alone, or with the keyboard alone. Both type texts. */
export interface Hands {
  /** Activate a button, a link, a box or a file chooser. */
  press(target: Locator): Promise<void>;
  /** Put a text in the place of what a field holds. */
  write(target: Locator, text: string): Promise<void>;
  /** Choose an option of a list by its words. */
  choose(target: Locator, option: string): Promise<void>;
  /** Move a slider to the right of where it is. */
  slide(target: Locator): Promise<void>;
  /** Move the crosshair of a chart to a place of it. */
  point(target: Locator): Promise<void>;
}

/** Keystrokes after which something is held to be out of reach. */
const maxTabs = 250;

const replaceText = async (page: Page, text: string): Promise<void> => {
  await page.keyboard.press('Control+A');
  await page.keyboard.press('Delete');
  await page.keyboard.insertText(text);
};

/** An option of a list that has the focus: by as many arrow keys as it is away. */
async function arrowTo(page: Page, target: Locator, option: string): Promise<void> {
  const distance = await target.evaluate((list, wanted) => {
    const { options, selectedIndex } = list as HTMLSelectElement;
    const index = [...options].findIndex(({ text }) => text === wanted);
    if (index < 0) throw new Error(`There is no option "${wanted}".`);
    return index - selectedIndex;
  }, option);
  for (let step = 0; step < Math.abs(distance); step += 1)
    await page.keyboard.press(distance > 0 ? 'ArrowDown' : 'ArrowUp');
}

export function mouse(page: Page): Hands {
  // A pointer that meets something else, such as a bar over the page, is an error of the page.
  const click = (target: Locator): Promise<void> => target.click();
  return {
    press: click,
    async write(target, text) {
      await click(target);
      await replaceText(page, text);
    },
    async choose(target, option) {
      await click(target);
      await target.selectOption({ label: option });
    },
    // Both wait until their target stands still; charts that load may move it.
    async slide(target) {
      const box = await target.boundingBox();
      if (box === null) throw new Error('The slider is not on the page.');
      await target.click({ position: { x: box.width * 0.7, y: box.height / 2 } });
    },
    point: (target) => target.hover(),
  };
}

export function keyboard(page: Page): Hands {
  const hasFocus = (target: Locator): Promise<boolean> =>
    target.evaluate((element) => element === document.activeElement);
  /** Tab to something, from where the focus is. */
  const reach = async (target: Locator): Promise<void> => {
    await target.waitFor({ state: 'attached' });
    for (let tab = 0; tab < maxTabs; tab += 1) {
      if (await hasFocus(target)) return;
      await page.keyboard.press('Tab');
    }
    throw new Error(`The focus does not reach ${target}.`);
  };
  return {
    async press(target) {
      await reach(target);
      const isBox = await target.evaluate((element) => element.matches('input[type=checkbox]'));
      await page.keyboard.press(isBox ? 'Space' : 'Enter');
    },
    async write(target, text) {
      await reach(target);
      await replaceText(page, text);
    },
    async choose(target, option) {
      await reach(target);
      await arrowTo(page, target, option);
    },
    async slide(target) {
      await reach(target);
      await page.keyboard.press('ArrowRight');
    },
    async point(target) {
      await reach(target);
      await page.keyboard.press('ArrowRight');
    },
  };
}
