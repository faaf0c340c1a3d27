import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ConsoleService, settle, startConsole, visit } from './console-service.ts';
import { newProject, recordRun } from './record-run.ts';
import { trainFolder } from './seed.ts';

let service: ConsoleService;
let page: Page;
let project_id: string;

beforeAll(async () => {
  service = await startConsole();
  page = await service.enter();
  project_id = await newProject(service.client, 'drawn');
});
afterAll(() => service.close());

/** Pixels with ink in parts of the canvas of the first chart, by the names of the parts; sizes are those of the page. */
async function inkOf(
  on: Page,
): Promise<Record<'all' | 'middle' | 'foot' | 'aboveFoot' | 'edge' | 'left' | 'right', number>> {
  await on.locator('.plot canvas').first().waitFor();
  await settle(on);
  return on
    .locator('.plot canvas')
    .first()
    .evaluate((element) => {
      const canvas = element as HTMLCanvasElement;
      const ratio = devicePixelRatio;
      const context = canvas.getContext('2d');
      const ink = (x: number, y: number, width: number, height: number): number => {
        const { data } = context?.getImageData(x, y, width, height) ?? { data: [] };
        let count = 0;
        for (let at = 3; at < data.length; at += 4) if ((data[at] ?? 0) > 60) count += 1;
        return count;
      };
      const { width, height } = canvas;
      return {
        all: ink(0, 0, width, height),
        middle: ink(0, height * 0.25, width, height * 0.4),
        foot: ink(0, height - 2 * ratio, width, 2 * ratio),
        aboveFoot: ink(0, height - 20 * ratio, width, 18 * ratio),
        edge: ink(0, 0, ratio, height - 40 * ratio),
        left: ink(0, 0, 38 * ratio, height - 40 * ratio),
        right: ink(width - ratio, 0, ratio, height),
      };
    });
}

const placeOf = (id: string, query = '') => `projects/${project_id}/experiments/${id}${query}`;

describe('a chart', () => {
  test('of time has the hour and, below it, the whole date', async () => {
    const id = await recordRun(service.client, project_id, {
      name: 'timed',
      metrics: { accuracy: [0.1, 0.5, 0.7] },
      status: 'SUCCEEDED',
    });
    await visit(page, placeOf(id, '?x=time'));
    const { foot, aboveFoot } = await inkOf(page);
    expect(aboveFoot).toBeGreaterThan(20);
    expect(foot).toBe(0);
  });

  test('has the last label of its horizontal axis whole', async () => {
    const id = await recordRun(service.client, project_id, {
      name: 'labelled',
      metrics: { accuracy: Array.from({ length: 121 }, (_, step) => 1 - 1 / (step + 1)) },
      status: 'SUCCEEDED',
    });
    await visit(page, placeOf(id));
    expect((await inkOf(page)).right).toBe(0);
  });

  test('of a run with a NaN is a line with a gap, not a dot at each step, also where it is smoothed', async () => {
    const values = Array.from({ length: 60 }, (_, step) => Math.sin(step / 9));
    const smooth = await recordRun(service.client, project_id, { name: 'whole', metrics: { wave: values } });
    const gap = await recordRun(service.client, project_id, {
      name: 'gap',
      metrics: { wave: values.map((value, step) => (step === 30 ? 'NaN' : value)) },
    });
    for (const query of ['', '?smooth=0.6']) {
      await visit(page, placeOf(smooth, query));
      const whole = await inkOf(page);
      await visit(page, placeOf(gap, query));
      await page.locator('.odd-values', { hasText: /^1 NaN$/ }).waitFor();
      const withGap = await inkOf(page);
      expect(withGap.all / whole.all, query).toBeLessThan(1.1);
    }
  });

  test('shows a value that stands alone between two gaps', async () => {
    const values = (alone: number | 'NaN') => [0, 1, 2, 'NaN', alone, 'NaN', 1, 2, 0] as const;
    const ink: number[] = [];
    for (const alone of ['NaN', 1] as const) {
      const id = await recordRun(service.client, project_id, {
        name: `alone-${alone}`,
        metrics: { wave: values(alone) },
      });
      await visit(page, placeOf(id));
      // The marks of what no line shows stand at the foot.
      ink.push((await inkOf(page)).middle);
    }
    expect(ink[1]).toBeGreaterThan((ink[0] ?? 0) + 20);
  });

  test.each([
    ['hundreds of billions', [1.45e11, 1.5e11, 1.55e11]],
    ['1e300', [1e300, 2e300, 5e300]],
    ['tiny ones', [1.234e-12, 5e-12, 9e-12]],
  ])('of %s has whole labels', async (name, values) => {
    const id = await recordRun(service.client, project_id, { name, metrics: { large: values } });
    await visit(page, placeOf(id));
    const { edge, left } = await inkOf(page);
    expect(left).toBeGreaterThan(30);
    expect(edge).toBe(0);
  });

  test('shows its values where somebody taps, on a phone', async () => {
    const id = await recordRun(service.client, project_id, {
      name: 'tapped',
      metrics: { accuracy: [0.1, 0.5, 0.7] },
    });
    const phone = await service.enter({ width: 390 });
    await visit(phone, placeOf(id));
    const plot = phone.locator('.plot').first();
    await plot.locator('canvas').waitFor();
    await plot.scrollIntoViewIfNeeded();
    await settle(phone);
    const box = await plot.boundingBox();
    // The last of the mouse's events that a browser makes of a tap, among them one of leaving.
    const click = await plot.evaluateHandle((one) => ({
      heard: new Promise<void>((resolve) => one.addEventListener('click', () => resolve(), { once: true })),
    }));
    await phone.touchscreen.tap((box?.x ?? 0) + (box?.width ?? 0) * 0.95, (box?.y ?? 0) + 100);
    await click.evaluate(({ heard }) => heard);
    await settle(phone);
    const tip = phone.locator('.tip');
    expect(await tip.innerText()).toMatch(/step 2[\s\S]*0\.7/);
    await phone.touchscreen.tap((box?.x ?? 0) + (box?.width ?? 0) * 0.25, (box?.y ?? 0) + 100);
    await expect.poll(() => tip.innerText()).toMatch(/step 0[\s\S]*0\.1/);
    await phone.context().close();
  });
});

test('"Differences" marks the best only of what is known to be good, and not a value that is alone', async () => {
  const ids: string[] = [];
  for (const [name, loss, accuracy] of [
    ['one', 0.4, 0.7],
    ['two', 0.1, 0.9],
    ['three', 0.1, 0.8],
  ] as const)
    ids.push(
      await recordRun(service.client, project_id, {
        name,
        metrics: {
          'val/loss': [loss],
          'train.accuracy': [accuracy],
          lr: [loss],
          epoch: [accuracy * 10],
          ...(name === 'one' && { f1: [0.5] }),
        },
        status: 'SUCCEEDED',
      }),
    );
  await visit(page, `projects/${project_id}/compare?experiments=${ids.join()}`);
  const marked = () =>
    page
      .locator('.compare-table tr:has(.best)')
      .evaluateAll((rows) =>
        rows.map((row) => [
          row.querySelector('th')?.textContent,
          ...[...row.querySelectorAll('.best')].map((cell) => cell.textContent),
        ]),
      );
  await expect.poll(marked).toEqual([
    ['train.accuracy', '0.9'],
    ['val/loss', '0.1', '0.1'],
  ]);
});

test('a param of any length is shown by its beginning, and whole at a click', async () => {
  const prompt = 'What is the answer? '.repeat(290);
  const params = { prompt, lr: '0.1' };
  const id = await recordRun(service.client, project_id, { name: 'long', params, status: 'SUCCEEDED' });
  const other = await recordRun(service.client, project_id, {
    name: 'other',
    params: { prompt: `${prompt}!`, lr: '0.1' },
    tags: { told: 'word '.repeat(800) },
    status: 'SUCCEEDED',
  });
  const height = () => page.evaluate(() => document.documentElement.scrollHeight);
  for (const place of [
    placeOf(id),
    placeOf(other),
    `projects/${project_id}/compare?experiments=${id},${other}`,
  ]) {
    await visit(page, place);
    await page
      .getByRole('button', { name: /^more \([\d,]+ characters\)$/ })
      .first()
      .waitFor();
    await settle(page);
    expect(await height(), place).toBeLessThan(2_500);
  }
  await visit(page, placeOf(id));
  await page.getByRole('button', { name: /^more/ }).click();
  await page.getByRole('button', { name: 'less' }).waitFor();
  expect(await page.locator('aside').innerText()).toContain(prompt.trim());
});

test('a table has all its rows and columns, and draws those that are seen', async () => {
  const program = `
import os
out = os.environ["OUTPUT_DIR"]
def leave(name, rows, columns):
    with open(os.path.join(out, name), "w") as file:
        for row in range(rows + 1): file.write(",".join(f"{row}-{column}" for column in range(columns)) + "\\n")
leave("short.csv", 3, 2)
leave("long.csv", 300, 45)
leave("huge.csv", 40000, 3)
`;
  const made = await trainFolder(service.url, service.client, { 'train.py': program }, 'tabled');
  await visit(page, `projects/${made.project_id}/experiments/${made.experiment_id}?tab=artifacts`);
  for (const [name, said, columns] of [
    ['short.csv', '3 rows', 2],
    ['long.csv', '300 rows', 45],
    ['huge.csv', '40,000 rows', 3],
  ] as const) {
    await page.getByRole('button', { name: new RegExp(`^${name}`) }).click();
    await page.locator('.panel').getByText(said).waitFor();
    await expect.poll(() => page.locator('.preview-table th').count()).toBe(columns);
  }
  expect(await page.locator('.preview-table tbody tr').count()).toBeLessThan(60);
});

test('nothing of it made a script fail or broke the policy of the page', () => {
  expect(service.faults).toEqual([]);
});
