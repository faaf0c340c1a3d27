import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { endpoint as readServing } from '../../functions/optimization/serving/read-serving.endpoint.ts';
import { ProblemError } from '../../shared/client/problem-error.ts';
import { axeFindings } from './axe.ts';
import { type ConsoleService, settle, startConsole, visit } from './console-service.ts';
import { countedHands } from './counted-hands.ts';
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
  // Without labels, versions differ in likeness, so they make a line.
  await recordModel(service.client, 'plain', 'digits.onnx');
  await prune(service.client, 'plain', '2');
  await quantize(service.client, 'plain', { strategy: 'float16', precision: '16' });
  page = await service.enter();
});
afterAll(() => service.close());

/** Panel of a version, beside the plot. */
const version = (name: string | RegExp) =>
  page.getByRole('region', {
    name: typeof name === 'string' ? `Version ${name}` : name,
    exact: typeof name === 'string',
  });
const labels = (on: Page) => on.locator('.tradeoff .label').allTextContents();

describe('the plot of accuracy over size', () => {
  test.each([1280, 390])(
    'has all of the family, and no label over another or over a point, at %d pixels',
    async (width) => {
      const own = await service.enter({ width });
      await visit(own, 'models/digits');
      await expect.poll(() => own.locator('.tradeoff circle').count()).toBe(5);
      await settle(own);
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

  test('shows the receipt of a clicked point beside it: one click', async () => {
    await visit(page, 'models/digits');
    await expect.poll(() => labels(page)).toContain('magnitude_global ÷2, float16');
    const hands = countedHands(page);
    await hands.click(page.locator('.tradeoff .label', { hasText: 'magnitude_global ÷4' }));
    await version('magnitude_global ÷4').locator('.receipt-bar').first().waitFor();
    expect(hands).toMatchObject({ clicks: 1, keys: 0 });
    await page.locator('.tradeoff .label', { hasText: ', float16' }).click();
    const ofResult = version('magnitude_global ÷2, float16');
    await ofResult.locator('.receipt-bar').first().waitFor();
    expect(await ofResult.getByRole('link', { name: 'Open in digits-half' }).count()).toBe(1);
    await page.goBack();
    await version('magnitude_global ÷4').waitFor();
    await settle(page);
    const [plot, beside] = await Promise.all([
      page.locator('.tradeoff').boundingBox(),
      version('magnitude_global ÷4').boundingBox(),
    ]);
    expect(beside?.x).toBeGreaterThan((plot?.x ?? 0) + (plot?.width ?? 0));
    await page.locator('.tradeoff .label', { hasText: /^original$/ }).click();
    await version('original').getByText('before any compression').waitFor();
  });

  test('gives each point to the arrow keys, by size, after the key s or one stop of the Tab key', async () => {
    await visit(page, 'models/plain');
    await expect.poll(() => page.locator('.tradeoff circle').count()).toBe(3);
    expect(await page.locator('.tradeoff a[tabindex="0"]').count()).toBe(1);
    const hands = countedHands(page);
    await hands.press('s', 'Home');
    await version('float16').locator('.receipt-bar').first().waitFor();
    expect(hands).toMatchObject({ clicks: 0, keys: 2 });
    await hands.press('ArrowRight');
    await version(/^Version (?:original|magnitude_global ÷2)$/).waitFor();
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-current'));
    await expect.poll(focused).toBe('true');
    await hands.press('End');
    await expect.poll(focused).toBe('true');
  });

  test('draws a line through the versions that no other beats', async () => {
    await visit(page, 'models/plain');
    await page.locator('.tradeoff .pareto').waitFor();
    await settle(page);
    const { corners, circles } = await page.evaluate(() => ({
      corners: (document.querySelector('.pareto')?.getAttribute('points') ?? '')
        .split(' ')
        .map((corner) => corner.split(',').map(Number)),
      circles: [...document.querySelectorAll('.tradeoff circle')].map((one) =>
        ['cx', 'cy'].map((name) => Number(one.getAttribute(name))),
      ),
    }));
    // From the smallest to the best, which are points themselves. A higher quality has a lower y.
    for (const end of [corners[0], corners.at(-1)]) expect(circles).toContainEqual(end);
    const [first = [], last = []] = [corners[0], corners.at(-1)];
    expect(first[0]).toBe(Math.min(...circles.map(([x = 0]) => x)));
    expect(last[1]).toBe(Math.min(...circles.map(([, y = 0]) => y)));
    expect(await axeFindings(page)).toEqual([]);
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

describe('an alias', () => {
  const aliases = async () => {
    try {
      const { aliases: found } = await service.client.call<typeof readServing>(
        'GET /optimization/models/{model_name}/serving',
        { path: { model_name: 'plain' } },
      );
      return found;
    } catch (error) {
      if (error instanceof ProblemError && error.status === 404) return undefined;
      throw error;
    }
  };
  /** Undo the latest of the notices. */
  const undo = () => page.getByRole('button', { name: 'Undo' }).last().click();
  const promote = async (name: string, action: string) => {
    await page.locator('.tradeoff .label', { hasText: name }).click();
    await version(name).getByRole('button', { name: 'Promote' }).click();
    await page.getByRole('dialog').getByRole('button', { name: action }).click();
    await version(name).locator('.alias', { hasText: 'production' }).waitFor();
  };

  test('is given to a version, which serves the model, and undone', async () => {
    await visit(page, 'models/plain');
    await page.locator('.tradeoff .label', { hasText: 'float16' }).click();
    await version('float16').getByRole('button', { name: 'Promote' }).click();
    await page.getByRole('dialog').getByText('The model is served from then on').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Close' }).click();
    await promote('float16', 'Promote');
    expect(Object.keys((await aliases()) ?? {})).toEqual(['production']);
    await page
      .getByRole('row')
      .filter({ hasText: 'production' })
      .getByRole('link', { name: 'float16' })
      .waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await undo();
    await expect.poll(aliases).toBeUndefined();
    await expect.poll(() => page.locator('.alias').count()).toBe(0);
  });

  test('moves to another version, is removed, and each is undone', async () => {
    await promote('float16', 'Promote');
    const before = await aliases();
    await promote('original', 'Move the alias');
    expect(await aliases()).toEqual({ production: 'original' });
    await undo();
    await expect.poll(aliases).toEqual(before);
    await page.locator('.tradeoff .label', { hasText: 'float16' }).click();
    await version('float16').getByRole('button', { name: 'Remove the alias production' }).click();
    await expect.poll(aliases).toEqual({});
    // The service knows before the page tells it; until then the last Undo is that of an older notice.
    await page.getByText('The alias production is removed').waitFor();
    await undo();
    await expect.poll(aliases).toEqual(before);
  });

  test('with a name that the service refuses is refused, and leaves the model as it was', async () => {
    await visit(page, 'models/digits');
    await page.locator('.tradeoff .label', { hasText: 'magnitude_global ÷4' }).click();
    await version('magnitude_global ÷4').getByRole('button', { name: 'Promote' }).click();
    await page.getByLabel('Alias').fill('no such/alias');
    await page.getByRole('dialog').getByRole('button', { name: 'Promote' }).click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await visit(page, 'models/digits/serving');
    await page.getByText('This model is not served').waitFor();
    expect(await page.getByRole('button', { name: 'Turn off' }).count()).toBe(0);
  });
});

describe('the dialog of a compression', () => {
  const dialog = () => page.getByRole('dialog');
  const begin = () => dialog().getByRole('button', { name: 'Compress', exact: true });
  const open = async (model_name: string) => {
    await visit(page, 'models');
    await visit(page, `models/${model_name}`);
    await page.getByRole('button', { name: 'Compress', exact: true }).click();
    await dialog().waitFor();
  };

  test('has one field, what may be lost, and searches within it', async () => {
    await open('digits');
    const seen = dialog().locator(':is(input, select, textarea):visible');
    expect(await seen.count()).toBe(1);
    expect(await axeFindings(page)).toEqual([]);
    const loss = page.getByLabel('Max loss');
    await loss.fill('none');
    await page.getByText('Enter a percentage above 0').waitFor();
    expect(await begin().isEnabled()).toBe(false);
    await loss.fill('2,5');
    const [sent] = await Promise.all([page.waitForRequest(/optimization\/quantize\?/), begin().click()]);
    expect(Object.fromEntries(new URL(sent.url()).searchParams)).toMatchObject({
      strategy: 'auto',
      precision: '4',
      max_loss: '0.025',
    });
    await dialog().waitFor({ state: 'detached' });
    await version(/^Version auto/).waitFor();
  });

  test('of a pruning begins with one that changes something, and says so of one that would not', async () => {
    await open('digits-half');
    await dialog().locator('summary').click();
    await page.getByRole('button', { name: 'Prune', exact: true }).click();
    await page.getByLabel('Strategy').selectOption('magnitude_global');
    expect(await page.getByLabel('Max loss').count()).toBe(0);
    const compression = page.getByLabel('Compression');
    expect(await compression.inputValue()).toBe('2');
    expect(await begin().isEnabled()).toBe(true);
    await compression.fill('1');
    await page.getByText('nothing would change').waitFor();
    expect(await begin().isEnabled()).toBe(false);
    await page.getByRole('button', { name: 'Close' }).click();
  });

  test('has 4 bits as the precision of auto, unless another is chosen', async () => {
    await open('digits-half');
    await dialog().locator('summary').click();
    expect(await page.getByLabel('Strategy').inputValue()).toBe('auto, 4 bit');
    await page.getByRole('button', { name: 'Close' }).click();
  });
});

test('a version is deleted only after a question', async () => {
  await visit(page, 'models/digits-half');
  const rows = page.getByRole('region', { name: 'Versions' }).getByRole('link', { name: 'float16' });
  await rows.click();
  await version('float16').getByRole('button', { name: 'Delete the version' }).click();
  await page.getByRole('heading', { name: 'Delete this version?' }).waitFor();
  await page.getByRole('button', { name: 'Keep' }).click();
  expect(await rows.count()).toBe(1);
  await version('float16').getByRole('button', { name: 'Delete the version' }).click();
  await page.getByRole('button', { name: 'Delete for ever' }).click();
  await expect.poll(() => rows.count()).toBe(0);
  await settle(page);
});

test('nothing of it made a script fail or broke the policy of the page', () => {
  expect(service.faults).toEqual([]);
});
