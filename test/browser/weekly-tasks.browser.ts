import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { endpoint as createModel } from '../../functions/optimization/models/create-model.endpoint.ts';
import { type ConsoleService, settle, startConsole, visit } from './console-service.ts';
import { countedHands } from './counted-hands.ts';
import { pictureOf } from './media-files.ts';
import { recordFiles } from './record-files.ts';
import { modelBytes } from './record-model.ts';
import { newProject, recordRun } from './record-run.ts';

// What a person does every week, in few clicks or keys, from the table of a project. Texts that are typed are not
// counted; choosing from a list is.
let service: ConsoleService;
let page: Page;
let project_id: string;
const ids: string[] = [];
const runs = 8;
const steps = 12;

const predictions = (wrong: number) =>
  JSON.stringify({
    columns: ['image', 'truth', 'prediction'],
    data: Array.from({ length: 20 }, (_, at) => [`${at}.png`, 'cat', at < wrong ? 'dog' : 'cat']),
  });

beforeAll(async () => {
  service = await startConsole();
  const { client } = service;
  page = await service.enter({ width: 1440 });
  project_id = await newProject(client, 'every week');
  const curve = (run: number) => Array.from({ length: steps }, (_, step) => (run + 1) / (step + 1));
  for (let run = 0; run < runs; run += 1)
    ids.push(
      await recordRun(client, project_id, {
        name: `run ${run}`,
        params: { model: run % 2 === 0 ? 'vit' : 'resnet', seed: String(run) },
        metrics: {
          ...Object.fromEntries(
            ['val/loss', 'val/acc', 'train/loss', 'train/acc', 'f1', 'grad/norm', 'lr'].map((name) => [
              name,
              curve(run),
            ]),
          ),
          'system/gpu_0_utilization_percentage': curve(run),
        },
        status: run === 0 ? undefined : 'SUCCEEDED',
      }),
    );
  for (const run of [5, 6]) {
    const path = { project_id, experiment_id: ids[run] ?? '' };
    const files: Record<string, string | Uint8Array<ArrayBuffer>> = {
      'predictions.json': predictions(run),
      'model.onnx': await modelBytes('digits.onnx'),
    };
    for (let step = 0; step < 3; step += 1) {
      files[`attention/epoch_${step}.png`] = await pictureOf(step);
      files[`histograms/fc_step_${step}.json`] = JSON.stringify({ bins: [-1, 0, 1], values: [step, 9] });
    }
    await recordFiles(client, path, files);
  }
  await client.call<typeof createModel>('POST /optimization/models/{model_name}', {
    path: { model_name: 'digits' },
    query: { experiment_id: ids[6] ?? '', path: 'model.onnx' },
  });
});
afterAll(() => service.close());

const open = async (place = `projects/${project_id}`) => {
  await visit(page, 'account');
  await page.getByRole('heading', { name: 'Account', exact: true }).waitFor();
  await visit(page, place);
  await settle(page);
  return countedHands(page);
};
const openTable = async () => {
  const hands = await open();
  await page
    .locator('.row.body')
    .nth(runs - 1)
    .waitFor();
  return hands;
};
const button = (name: string) => page.getByRole('button', { name, exact: true });
const link = (name: string) => page.getByRole('link', { name, exact: true });
const row = (run: number) => page.getByLabel(`Choose run ${run}`, { exact: true });
const plots = (): Promise<string[]> =>
  page.locator('.plot').evaluateAll((all) => all.map((one) => one.getAttribute('aria-label') ?? ''));

/** Choose an entry of the palette: Ctrl and K, words, Enter. */
const command = async (hands: Awaited<ReturnType<typeof openTable>>, words: string): Promise<void> => {
  await hands.press('Control+k');
  await page.getByRole('combobox', { name: /Search projects/ }).waitFor();
  await page.keyboard.insertText(words);
  await page.getByRole('listbox', { name: 'Results' }).getByRole('option').first().waitFor();
  await hands.press('Enter');
};

describe('five curves on a logarithmic axis, smoothed and zoomed', () => {
  test('take three clicks and a drag', async () => {
    const hands = await openTable();
    await hands.click(button('Curves'));
    await hands.click(button('Log y'));
    await hands.slideTo(page.getByLabel('Smoothing'), 0.6);
    await page.locator('.plot canvas').first().waitFor();
    await settle(page);
    const box = await page.locator('.u-over').first().boundingBox();
    if (box === null) throw new Error('There is no plot.');
    await page.mouse.move(box.x + 40, box.y + 40);
    await page.mouse.down();
    await page.mouse.move(box.x + 140, box.y + 40, { steps: 4 });
    await page.mouse.up();
    await expect.poll(() => page.url()).toMatch(/log=y&smooth=0\.\d+&zoom=/);
    expect(hands.clicks).toBe(3);
  });
});

describe('the curves of what runs', () => {
  test('are drawn with the first five rows after one click, wherever their rows are', async () => {
    const hands = await openTable();
    await hands.click(button('Curves'));
    const drawn = page.locator('.row.body:has(.drawn-mark) .cell.name a');
    await expect.poll(() => drawn.allInnerTexts()).toEqual([7, 6, 5, 4, 3, 0].map((run) => `run ${run}`));
    expect(hands.clicks).toBe(1);
  });
});

describe('the GPUs of runs over each other', () => {
  const gpu = () =>
    expect
      .poll(async () => (await plots()).find((label) => label.startsWith('system/gpu_0')) ?? '')
      .toMatch(/run 7 ends.*run 6 ends/);

  test('are one click or one key away, in the last section', async () => {
    const hands = await openTable();
    await hands.click(button('Curves'));
    await page.getByText('system', { exact: true }).scrollIntoViewIfNeeded();
    await gpu();
    expect(hands.clicks).toBe(1);
    const byKeyboard = await openTable();
    await byKeyboard.press('v');
    await page.getByText('system', { exact: true }).scrollIntoViewIfNeeded();
    await gpu();
    expect(byKeyboard.keys).toBe(1);
  });

  test('are in a comparison', async () => {
    await visit(page, `projects/${project_id}/compare?experiments=${ids[6]},${ids[5]}&tab=curves`);
    await page.getByText('system', { exact: true }).scrollIntoViewIfNeeded();
    await expect
      .poll(async () => (await plots()).some((label) => /^system\/gpu_0.*run 6 ends.*run 5 ends/.test(label)))
      .toBe(true);
  });
});

test('metrics are found by a regular expression, with one click or one key', async () => {
  const hands = await open(`projects/${project_id}/experiments/${ids[0]}`);
  await hands.click(page.getByLabel('Find metrics'));
  await page.keyboard.insertText('^(val|f1)');
  const names = async () => (await page.locator('.chart figcaption strong').allInnerTexts()).sort();
  await expect.poll(names).toEqual(['f1', 'val/acc', 'val/loss']);
  expect(hands.clicks).toBe(1);
  const byKeyboard = await open(`projects/${project_id}/experiments/${ids[1]}`);
  await page.getByLabel('Find metrics').waitFor();
  await byKeyboard.press('/');
  await page.keyboard.insertText('^train/');
  await expect.poll(names).toEqual(['train/acc', 'train/loss']);
  expect(byKeyboard.keys).toBe(1);
});

describe('groups', () => {
  const isGrouped = () => expect.poll(() => page.locator('.grouped tbody tr').count()).toBe(2);

  test('by a param take two clicks', async () => {
    const hands = await openTable();
    await hands.choose(page.getByLabel('Group by'), 'Group by model');
    await isGrouped();
    expect(hands.clicks).toBe(2);
  });

  test('or two keys and the words', async () => {
    const hands = await openTable();
    await command(hands, 'group by model');
    await isGrouped();
    expect(hands.keys).toBe(2);
  });
});

describe('a column', () => {
  const seed = () => page.getByRole('columnheader', { name: /seed/ });

  test('is hidden or shown by three clicks', async () => {
    const hands = await openTable();
    await hands.click(button('Columns'));
    await hands.click(page.getByRole('dialog').getByLabel('seed', { exact: true }));
    await hands.click(button('Done'));
    await expect.poll(() => seed().count()).toBe(0);
    expect(hands.clicks).toBe(3);
  });

  test('or by four keys and the words', async () => {
    const hands = await openTable();
    await command(hands, 'columns');
    await page.getByLabel('Find columns').waitFor();
    await page.keyboard.insertText('seed');
    await hands.press('Enter', 'Escape');
    await seed().waitFor();
    expect(hands.keys).toBe(4);
  });
});

describe('confusion matrices of two runs', () => {
  const isShown = () => expect.poll(() => page.getByText(/of 20 rows right/).count()).toBe(2);

  test('stand side by side after four clicks', async () => {
    const hands = await openTable();
    for (const run of [5, 6]) await hands.click(row(run));
    await hands.click(link('Compare'));
    await hands.click(link('Files'));
    await isShown();
    expect(hands.clicks).toBe(4);
  });

  test('or after seven keys', async () => {
    const hands = await openTable();
    for (const at of [0, 1, 2]) {
      await hands.press('j');
      await expect
        .poll(() =>
          page.evaluate(() => document.activeElement?.closest<HTMLElement>('[data-index]')?.dataset['index']),
        )
        .toBe(String(at));
      if (at > 0) await hands.press('x');
    }
    await hands.press('c');
    await page.getByRole('heading', { name: 'Compare 2 experiments' }).waitFor();
    await link('Files').waitFor();
    await hands.press('4');
    await isShown();
    expect(hands.keys).toBe(7);
  });
});

test('histograms and pictures of a run are two clicks away', async () => {
  const hands = await openTable();
  await hands.click(link('run 6'));
  await hands.click(link('Media'));
  await page.getByRole('img', { name: /histograms\/fc/ }).waitFor();
  await page.locator('.media-tile img').first().waitFor();
  expect(hands.clicks).toBe(2);
});

test('the run that a model is from is two clicks away, and named by the list of models', async () => {
  const hands = await open('');
  await hands.click(link('Models').first());
  await hands.click(
    page.getByRole('row', { name: /digits/ }).getByRole('link', { name: 'from an experiment' }),
  );
  await page.getByRole('heading', { name: 'run 6', level: 1 }).waitFor();
  expect(hands.clicks).toBe(2);
});

describe('a chart', () => {
  const menu = () =>
    page
      .locator('.chart')
      .first()
      .getByLabel(/^More for the chart/);
  const choose = (name: string) => page.locator('.menu[open]').getByRole('button', { name });

  test('becomes a report with four clicks', async () => {
    const hands = await openTable();
    await hands.click(button('Curves'));
    await page.locator('.chart').first().hover();
    await hands.click(menu());
    await hands.click(choose('Add to a report'));
    await page.getByLabel('Text (optional)').waitFor();
    await page.keyboard.insertText('The best five of the week.');
    await hands.click(button('Add'));
    await page.getByRole('img', { name: /^val\/acc of run 7, run 6/ }).waitFor();
    await page.getByText('The best five of the week.').waitFor();
    expect(hands.clicks).toBe(4);
  });

  test('is written on at the crosshair, in the report that is there, with a few more', async () => {
    const hands = await openTable();
    await hands.click(button('Curves'));
    const plot = page.locator('.u-over').first();
    await plot.waitFor();
    await settle(page);
    const box = await plot.boundingBox();
    await hands.click(plot);
    await expect.poll(() => page.url()).toContain('at=');
    await page.mouse.move((box?.x ?? 0) + 5, (box?.y ?? 0) - 20);
    await hands.click(menu());
    await hands.click(choose('Add to a report'));
    await page.getByLabel(/^Note at step \d+ \(optional\)/).waitFor();
    await page.keyboard.insertText('warm-up ends');
    await hands.choose(page.getByLabel('Report', { exact: true }), 'val/acc');
    await hands.press('Enter');
    await page.getByText(/Step \d+: warm-up ends/).waitFor();
    await page.getByText('The best five of the week.').waitFor();
    expect([hands.clicks, hands.keys]).toEqual([6, 1]);
  });

  test('is saved as CSV, PNG or SVG with three clicks', async () => {
    const hands = await openTable();
    await hands.click(button('Curves'));
    await page.locator('.chart').first().hover();
    await hands.click(menu());
    const [download] = await Promise.all([page.waitForEvent('download'), hands.click(choose('CSV'))]);
    expect(download.suggestedFilename()).toMatch(/\.csv$/);
    expect(hands.clicks).toBe(3);
  });
});

describe('a deleted run', () => {
  test('is restored with two clicks', async () => {
    await openTable();
    await row(1).check();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await expect.poll(() => page.locator('.row.body').count()).toBe(runs - 1);
    const hands = await open();
    await hands.click(button('Deleted'));
    await hands.click(button('Restore'));
    await page.getByText(/restored/).waitFor();
    expect(hands.clicks).toBe(2);
  });
});

test('no script failed, and none broke the policy of the page', () => {
  expect(service.faults).toEqual([]);
});
