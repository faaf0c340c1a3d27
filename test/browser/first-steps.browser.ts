import { afterAll, beforeAll, expect, test } from 'vitest';
import { axeFindings } from './axe.ts';
import { type ConsoleService, settle, startConsole, visit } from './console-service.ts';
import { newProject, recordRun } from './record-run.ts';

let service: ConsoleService;

beforeAll(async () => {
  service = await startConsole();
});
afterAll(() => service.close());

test('a new service shows ways to begin, and opens the first run by itself; names keep their ends', async () => {
  const page = await service.enter({ width: 1280 });
  await page.getByRole('heading', { name: 'Run your first training' }).waitFor();
  await page.getByRole('button', { name: 'MLflow', exact: true }).click();
  await page.getByText('MLFLOW_TRACKING_URI').waitFor();
  await page.getByRole('button', { name: 'Example', exact: true }).click();
  await page.getByRole('button', { name: 'Import', exact: true }).click();
  await page.getByLabel('Runs that you have in').selectOption('TensorBoard');
  await page.getByText('mps import --from tensorboard ./runs').waitFor();
  expect(await axeFindings(page)).toEqual([]);

  const name = 'efficientnet_b0-sgd-lr0.00229-warmup500-cosine-augment2-s';
  const project_id = await newProject(service.client, 'first');
  // As with "mps run", the experiment comes long after its project.
  await page.waitForResponse(
    async (answer) => /\/projects\/(\?|$)/.test(answer.url()) && (await answer.text()).includes(project_id),
  );
  // A project without a run still has nothing to show but the ways to one.
  await visit(page, 'account');
  await visit(page, '');
  await page.getByRole('heading', { name: 'Newest projects' }).waitFor();
  await page.getByRole('heading', { name: 'Run your first training' }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  for (const seed of [1, 2])
    await recordRun(service.client, project_id, {
      name: `${name}${seed}`,
      metrics: { accuracy: [0.5, seed] },
    });
  await page.waitForURL(/experiments\/\w{26}/);

  await visit(page, '');
  await page.getByRole('heading', { name: 'Needs you' }).waitFor();
  await expect.poll(() => page.locator('#running').innerText()).toContain('2');
  await settle(page);
  expect(await axeFindings(page)).toEqual([]);
  await visit(page, `projects/${project_id}`);
  await page.locator('.row.body').nth(1).waitFor();
  await settle(page);
  const ends = page.locator('.row.body .cut-name > :last-child');
  const places = await ends.evaluateAll((all) =>
    all.map((end) => {
      const cell = end.closest('.cell')?.getBoundingClientRect();
      return [end.textContent, end.getBoundingClientRect().right <= (cell?.right ?? 0)];
    }),
  );
  expect(places).toEqual([
    ['ugment2-s2', true],
    ['ugment2-s1', true],
  ]);
  const left = (part: string) =>
    page
      .locator(`${part} .cell.name`)
      .first()
      .evaluate((cell) => cell.getBoundingClientRect().left);
  expect(await left('.head')).toBe(await left('.row.body'));
  await page.getByRole('separator', { name: 'Width of the names' }).focus();
  const width = () =>
    page.locator('.head .cell.name').evaluate((cell) => Math.round(cell.getBoundingClientRect().width));
  const before = await width();
  await page.keyboard.press('ArrowRight');
  await expect.poll(width).toBe(before + 16);
  expect(await axeFindings(page)).toEqual([]);
  expect(service.faults).toEqual([]);
});
