import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { endpoint as readModel } from '../../functions/optimization/models/read-model.endpoint.ts';
import { axeFindings } from './axe.ts';
import { type ConsoleService, startConsole, visit } from './console-service.ts';
import { digitsSamples, modelBytes, npzOf, recordModel } from './record-model.ts';
import { trainFolder } from './seed.ts';

let service: ConsoleService;
let page: Page;
let trained: { project_id: string; experiment_id: string };

/** What an experiment leaves: a model with its sets, and an archive of another. */
const program = `
import os, shutil
for name in ("digits.onnx", "digits-calibration.npz", "digits-test.npz", "other-test.npz"):
    shutil.copy(os.path.join("files", name), os.environ["OUTPUT_DIR"])
`;

beforeAll(async () => {
  service = await startConsole();
  const [calibration, evaluation] = await Promise.all([
    npzOf({ image: digitsSamples(20).image }),
    npzOf(digitsSamples(20)),
  ]);
  trained = await trainFolder(
    service.url,
    service.client,
    {
      'train.py': program,
      'files/digits.onnx': await modelBytes('digits.onnx'),
      'files/digits-calibration.npz': calibration,
      'files/digits-test.npz': evaluation,
      'files/other-test.npz': evaluation,
    },
    'left',
  );
  page = await service.enter();
});
afterAll(() => service.close());

const button = (name: string | RegExp) => page.getByRole('button', { name });
const setsOf = async (model_name: string): Promise<string[]> =>
  (
    await service.client.call<typeof readModel>('GET /optimization/models/{model_name}', {
      path: { model_name },
    })
  ).files
    .map(({ role }) => role)
    .filter((role) => role !== 'model')
    .sort();

test('an artifact becomes a model with the sets that lie beside it, which can be changed', async () => {
  await visit(
    page,
    `projects/${trained.project_id}/experiments/${trained.experiment_id}?tab=artifacts&file=digits.onnx`,
  );
  await page.getByRole('link', { name: 'Register as a model' }).click();
  const [calibration, evaluation] = [page.getByLabel('Calibration set'), page.getByLabel('Evaluation set')];
  await expect.poll(() => calibration.inputValue()).toBe('digits-calibration.npz');
  expect(await evaluation.inputValue()).toBe('digits-test.npz');
  expect(await axeFindings(page)).toEqual([]);
  await evaluation.selectOption({ label: 'None' });
  await button('Register as a model').click();
  await page.getByRole('heading', { name: 'digits', level: 1 }).waitFor();
  expect(await setsOf('digits')).toEqual(['calibration']);
});

test('a model of an artifact takes more of the same experiment later', async () => {
  await visit(page, 'models/digits');
  await button('add or replace').click();
  const evaluation = page.getByLabel('Evaluation set', { exact: true });
  await expect.poll(() => evaluation.inputValue()).toBe('digits-test.npz');
  expect(await axeFindings(page)).toEqual([]);
  await button('Add these sets').click();
  await page.getByText('calibration and evaluation').waitFor();
  expect(await setsOf('digits')).toEqual(['calibration', 'evaluation']);
});

test('a model that was uploaded takes sets from this machine, and from any experiment', async () => {
  await recordModel(service.client, 'uploaded', 'digits.onnx');
  await visit(page, 'models/uploaded');
  await button('add or replace').click();
  const folder = await mkdtemp(join(tmpdir(), 'console-set-'));
  try {
    await writeFile(join(folder, 'mine.npz'), await npzOf(digitsSamples(10)));
    await page.getByLabel(/Evaluation set \(npz\)/).setInputFiles(join(folder, 'mine.npz'));
    await page.getByText('mine.npz is there').waitFor();
  } finally {
    await rm(folder, { recursive: true });
  }
  expect(await setsOf('uploaded')).toEqual(['evaluation']);
  await page.getByLabel('Project', { exact: true }).selectOption({ label: 'left' });
  await page.getByLabel('Experiment', { exact: true }).selectOption(trained.experiment_id);
  const calibration = page.getByLabel('Calibration set', { exact: true });
  await calibration.selectOption('digits-calibration.npz');
  await button('Add these sets').click();
  await page.getByText('calibration and evaluation').waitFor();
  expect(await setsOf('uploaded')).toEqual(['calibration', 'evaluation']);
});

test('nothing of it made a script fail or broke the policy of the page', () => {
  expect(service.faults).toEqual([]);
});
