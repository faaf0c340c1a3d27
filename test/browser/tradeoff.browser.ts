import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { axeFindings } from './axe.ts';
import { type ConsoleService, settle, startConsole, visit } from './console-service.ts';
import { prune, quantize } from './record-compression.ts';
import { digitsSamples, recordModel } from './record-model.ts';

let service: ConsoleService;
let page: Page;

/** Of the evaluation set, whose labels mean nothing. */
const samples = 60;

beforeAll(async () => {
  service = await startConsole();
  await recordModel(service.client, 'digits', 'digits.onnx', digitsSamples(samples));
  await prune(service.client, 'digits', '2', 'digits-half');
  await prune(service.client, 'digits', '2');
  await prune(service.client, 'digits', '4');
  await quantize(service.client, 'digits-half', { strategy: 'float16', precision: '16' });
  page = await service.enter();
});
afterAll(() => service.close());

const labels = (on: Page) => on.locator('.tradeoff .label').allTextContents();

describe('the plot of accuracy over size', () => {
  test.each([1280, 390])(
    'has all of the family, and no label over another or over a point, at %d pixels',
    async (width) => {
      const own = await service.enter({ width });
      await visit(own, 'models/digits');
      await expect.poll(() => own.locator('.tradeoff circle').count()).toBe(5);
      const { texts, marks } = await own.evaluate(() => {
        const boxes = (selector: string) =>
          [...document.querySelectorAll(`.tradeoff ${selector}`)].map((one) => {
            const { left, right, top, bottom } = one.getBoundingClientRect();
            return { left, right, top, bottom };
          });
        return { texts: boxes('.label'), marks: boxes('circle') };
      });
      const named = texts.length + (await own.locator('.tradeoff-more li').count());
      expect(named).toBe(5);
      for (const [index, text] of texts.entries())
        for (const other of [...texts.slice(index + 1), ...marks])
          expect(
            text.left < other.right &&
              other.left < text.right &&
              text.top < other.bottom &&
              other.top < text.bottom,
          ).toBe(false);
      // Two compressions with one result lie at one place: both are seen.
      const sizes = marks.map(({ left, right }) => Math.round(right - left));
      expect(new Set(sizes).size).toBeGreaterThan(1);
      expect(await axeFindings(own)).toEqual([]);
      await own.context().close();
    },
  );

  test('leads to the receipt of a point, also of a result’s result', async () => {
    await visit(page, 'models/digits');
    await expect.poll(() => labels(page)).toContain('magnitude_global ÷2, float16');
    await page.locator('.tradeoff .label', { hasText: 'magnitude_global ÷4' }).click();
    const card = page.locator('.strategy.chosen');
    await card.locator('.receipt-bar').first().waitFor();
    expect(await card.locator('summary').innerText()).toContain('÷4');
    await page.locator('.tradeoff .label', { hasText: ', float16' }).click();
    await page.getByRole('heading', { name: 'digits-half', level: 1 }).waitFor();
    await page.locator('.strategy.chosen .receipt-bar').first().waitFor();
    expect(await page.locator('.strategy.chosen summary').innerText()).toContain('float16');
    await page.goBack();
    await page.locator('.strategy.chosen', { hasText: '÷4' }).waitFor();
  });

  test('keeps the colours of what was there when something is added', async () => {
    const colours = () =>
      page.locator('.tradeoff a').evaluateAll((all) =>
        all.map((one) => {
          const circle = one.querySelector('circle');
          return [
            one.querySelector('.label')?.textContent,
            circle?.style.fill || circle?.style.stroke,
          ] as const;
        }),
      );
    await visit(page, 'models/digits');
    await expect.poll(() => page.locator('.tradeoff circle').count()).toBe(5);
    const before = new Map(await colours());
    await quantize(service.client, 'digits', { strategy: 'float16', precision: '16' });
    await page.reload();
    await expect.poll(() => page.locator('.tradeoff circle').count()).toBe(6);
    const after = new Map(await colours());
    for (const [label, colour] of before) expect(after.get(label), String(label)).toBe(colour);
  });
});

describe('the form', () => {
  test('of a pruning begins with one that changes something, and says so of one that would not', async () => {
    await visit(page, 'models/digits');
    await page.getByRole('button', { name: 'Prune', exact: true }).click();
    const compression = page.getByLabel('Compression');
    expect(await compression.inputValue()).toBe('2');
    const begin = page.locator('form').getByRole('button', { name: 'Prune', exact: true });
    expect(await begin.isEnabled()).toBe(true);
    await compression.fill('1');
    await page.getByText('nothing would change').waitFor();
    expect(await begin.isEnabled()).toBe(false);
  });

  test('has 4 bits as the precision of auto, unless another is chosen', async () => {
    await visit(page, 'models');
    await visit(page, 'models/digits');
    const options = await page.getByLabel('Strategy').locator('option').allInnerTexts();
    expect(options.filter((name) => name.startsWith('auto'))[0]).toBe('auto, 4 bit');
  });
});

test('a strategy is deleted only after a question', async () => {
  await visit(page, 'models/digits-half');
  const card = page.locator('.strategy').first();
  await card.locator('summary').click();
  await card.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { name: 'Delete this strategy?' }).waitFor();
  await page.getByRole('button', { name: 'Keep' }).click();
  expect(await page.locator('.strategy').count()).toBe(1);
  await card.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Delete for ever' }).click();
  await expect.poll(() => page.locator('.strategy').count()).toBe(0);
  await settle(page);
});

test('nothing of it made a script fail or broke the policy of the page', () => {
  expect(service.faults).toEqual([]);
});
