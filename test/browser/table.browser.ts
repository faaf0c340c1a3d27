import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { endpoint as deleteExperiment } from '../../functions/experiments/records/delete-experiment.endpoint.ts';
import type { endpoint as createUser } from '../../functions/users/create-user.endpoint.ts';
import { recordMany } from '../../infra/tools/demo/record-many.ts';
import { axeFindings } from './axe.ts';
import { type ConsoleService, settle, signIn, startConsole, visit } from './console-service.ts';
import { newProject, recordRun } from './record-run.ts';
import { trainFolder } from './seed.ts';

let service: ConsoleService;
let page: Page;

beforeAll(async () => {
  service = await startConsole();
  page = await service.enter();
});
afterAll(() => service.close());

const names = (): Promise<string[]> => page.locator('.row.body .cell.name').allInnerTexts();
const head = (name: string | RegExp) => page.getByRole('columnheader', { name }).getByRole('button');

describe('sorting', () => {
  test('has the best at the top with the first click, of what is minimized too', async () => {
    const project_id = await newProject(service.client, 'sorted', 'protein-folding');
    for (const [name, loss, accuracy] of [
      ['middle', 0.4, 0.7],
      ['best', 0.1, 0.9],
      ['worst', 0.8, 0.2],
    ] as const)
      await recordRun(service.client, project_id, {
        name,
        metrics: { loss: [loss], 'train/loss': [loss], accuracy: [accuracy] },
        status: 'SUCCEEDED',
      });
    await recordRun(service.client, project_id, { name: 'failed', status: 'FAILED' });
    for (const column of [/Best/, /^last loss/, /train\/loss/, /^last accuracy/]) {
      await visit(page, `projects/${project_id}`);
      await head(column).click();
      await expect.poll(names, { message: String(column) }).toEqual(['best', 'middle', 'worst', 'failed']);
      await head(column).click();
      await expect.poll(names).toEqual(['worst', 'middle', 'best', 'failed']);
      await head(column).click();
      await expect.poll(() => page.url()).not.toContain('sort=');
    }
  });

  test('is by any metric that is chosen: the project is ranked by it at once, for everybody, until Undo', async () => {
    const project_id = await newProject(service.client, 'chosen', 'protein-folding');
    for (const [name, loss, accuracy] of [
      ['early', [0.1, 0.9], 0.5],
      ['late', [0.6, 0.3], 0.9],
      ['worst', [0.9, 0.8], 0.2],
    ] as const)
      await recordRun(service.client, project_id, {
        name,
        metrics: { 'val/loss': loss, 'val/acc': [accuracy], odd: [accuracy * 10], lr: [1], epoch: [2] },
        status: 'SUCCEEDED',
      });
    await visit(page, `projects/${project_id}`);
    const by = page.getByLabel('Ranked by');
    const best = () => page.getByRole('columnheader', { name: /Best/ }).innerText();
    const heads = await page.getByRole('columnheader').allInnerTexts();
    expect(heads.map((text) => text.replaceAll(/\s+/g, ' ').trim()).slice(2, 8)).toEqual([
      'Status',
      'accuracy Best',
      'Curve',
      'last val/acc',
      'last val/loss',
      'last odd',
    ]);
    const asked: string[] = [];
    const note = (request: { url(): string }) => void asked.push(request.url());
    page.on('request', note);
    await by.selectOption({ label: 'lowest val/loss' });
    await expect.poll(names).toEqual(['early', 'late', 'worst']);
    await expect.poll(best).toMatch(/val\/loss\s+Best/);
    await page.getByText('Everybody sees the experiments ranked by val/loss now.').waitFor();
    expect(asked.filter((url) => /\/experiments\?(?!.*limit=60)/.test(url))).toEqual([]);
    page.off('request', note);
    await page.reload();
    await expect.poll(best).toMatch(/val\/loss\s+Best/);
    await expect.poll(names).toEqual(['early', 'late', 'worst']);
    await by.selectOption({ label: 'highest odd' });
    await expect.poll(names).toEqual(['late', 'early', 'worst']);
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(best).toMatch(/val\/loss\s+Best/);
    await expect.poll(names).toEqual(['early', 'late', 'worst']);

    await service.client.call<typeof createUser>('POST /users/', {
      fields: { username: 'vera', account_type: 'viewer' },
      body: { password: 'a long sentence for vera' },
    });
    const other = await service.open();
    await signIn(other, { username: 'vera', password: 'a long sentence for vera' });
    await visit(other, `projects/${project_id}`);
    await other.getByLabel('Ranked by').selectOption({ label: 'highest val/acc' });
    await expect
      .poll(() => other.locator('.row.body .cell.name').allInnerTexts())
      .toEqual(['late', 'early', 'worst']);
    expect(await other.getByRole('columnheader').nth(2).innerText()).toMatch(/max\s+val\/acc/);
    await page.reload();
    await expect.poll(best).toMatch(/val\/loss\s+Best/);
    await other.context().close();
  });

  test('of groups is by any column, whose means have units and as many digits as they are sure of', async () => {
    const { project_id } = await recordMany(service.client, 40, { name: 'grouped' });
    await visit(page, `projects/${project_id}?group=params.model`);
    const column = (index: number) =>
      page.locator(`.grouped tbody tr > :nth-child(${index})`).allInnerTexts();
    const heads = await page.locator('.grouped thead th').allInnerTexts();
    const durations = await column(heads.findIndex((name) => name.includes('Duration')) + 1);
    expect(durations.length).toBeGreaterThan(2);
    for (const text of durations)
      expect(text).toMatch(/^[\d.]+ (?:s|min|h|d)(?: \d+ \w+)?(?: ± [\d.]+ (?:s|min|h|d).*)?$/);
    const at = heads.findIndex((name) => name.includes('Best')) + 1;
    for (const text of await column(at)) {
      const [mean = '', deviation = ''] = text.split(' ± ');
      if (deviation !== '') expect(mean.split('.')[1]?.length, text).toBe(deviation.split('.')[1]?.length);
    }
    await page.locator('.grouped thead button', { hasText: 'Best' }).click();
    const sorted = page.locator('.grouped thead [aria-sort]:not([aria-sort=none])');
    await sorted.filter({ hasText: 'Best' }).waitFor();
    const means = (await column(at)).map((text) => Number.parseFloat(text));
    expect(means).toEqual([...means].sort((a, b) => b - a));
    await page.locator('.grouped thead button', { hasText: 'model' }).click();
    await sorted.filter({ hasText: 'model' }).waitFor();
    const groups = await column(1);
    expect(groups).toEqual([...groups].sort());
  });
});

test('a run whose program has warnings has a mark beside its name, and their number in a column', async () => {
  const program = `
import os
with open(os.environ["METRICS_FILE"], "a") as metrics:
    metrics.write('no JSON\\n{"accuracy": 0.5}\\n')
`;
  const { project_id } = await trainFolder(service.url, service.client, { 'train.py': program }, 'warned');
  await recordRun(service.client, project_id, { name: 'quiet', status: 'SUCCEEDED' });

  await visit(page, `projects/${project_id}?columns=status,warnings&sort=-warnings`);

  const row = (index: number) => page.locator(`[data-index="${index}"]`);
  await expect.poll(() => row(0).locator('.warned').innerText()).toContain('1 warning');
  expect(await row(0).locator('.warned').getAttribute('title')).toMatch(/METRICS_FILE/);
  expect(await row(0).locator('.cell').last().innerText()).toBe('1');
  expect(await row(1).innerText()).toContain('quiet');
  expect(await row(1).locator('.warned').count()).toBe(0);
  expect(await axeFindings(page)).toEqual([]);
});

test.each([
  ['optimizer', 'left'],
  ['lr', 'right'],
] as const)('the label of the column %s stands where its values stand, at the %s', async (name, side) => {
  const project_id = await newProject(service.client, `aligned ${side}`);
  for (const lr of ['0.1', '0.2'])
    await recordRun(service.client, project_id, {
      name: lr,
      params: { lr, optimizer: lr === '0.1' ? 'sgd' : 'adamw' },
      status: 'SUCCEEDED',
    });
  await visit(page, `projects/${project_id}`);
  const column = page.getByRole('columnheader', { name: new RegExp(`${name}$`) });
  const index = await column.evaluate((cell) => Number(cell.getAttribute('aria-colindex')));
  const [label = 0, value = 99] = await page.evaluate(
    ([at, edge]) =>
      ['.row.head', '.row.body'].map((row) => {
        const text = document.createRange();
        text.selectNodeContents(
          document.querySelector(`${row} [aria-colindex="${at}"] bdi`) ?? document.body,
        );
        return text.getBoundingClientRect()[edge];
      }),
    [index, side] as const,
  );
  expect(Math.abs(label - value)).toBeLessThan(1.5);
});

test('rows are dense in every project, where somebody chooses so in this browser', async () => {
  const project_id = await newProject(service.client, 'dense');
  for (const name of ['one', 'two'])
    await recordRun(service.client, project_id, { name, metrics: { accuracy: [0.5, 0.6] } });
  const height = async () => (await page.locator('.row.body').first().boundingBox())?.height;
  const dense = page.getByLabel('Dense rows');
  await visit(page, `projects/${project_id}`);
  await expect.poll(height).toBe(32);
  await page.getByRole('button', { name: 'Columns' }).click();
  await dense.check();
  await page.getByRole('button', { name: 'Done' }).click();
  await expect.poll(height).toBe(24);
  expect(await axeFindings(page)).toEqual([]);
  await page.reload();
  await expect.poll(height).toBe(24);
  await page.locator('[data-index="1"] input').check();
  await page.getByText('1 chosen').waitFor();
  await page.getByRole('button', { name: 'Clear the choice' }).click();
  await page.getByRole('button', { name: 'Columns' }).click();
  await dense.uncheck();
  await page.getByRole('button', { name: 'Done' }).click();
  await expect.poll(height).toBe(32);
});

describe('going back', () => {
  test('keeps rows, place and choice, and asks for the rows but once', async () => {
    const { project_id } = await recordMany(service.client, 150, { name: 'returned' });
    await visit(page, `projects/${project_id}`);
    await page.getByText('150 experiments').first().waitFor();
    await page.locator('[data-index="1"] input').check();
    const table = page.locator('.table');
    await table.evaluate((box) => box.scrollTo(0, 3_000));
    await page.locator('[data-index="95"] a').waitFor();
    await page.locator('[data-index="95"] a').click();
    await page.waitForURL(/experiments\/\w+/);
    await settle(page);
    const asked: string[] = [];
    const note = (request: { url(): string }) => void asked.push(request.url());
    page.on('request', note);
    await page.goBack();
    await page.locator('[data-index="95"] a').waitFor();
    await settle(page);
    page.off('request', note);
    expect(await table.evaluate((box) => box.scrollTop)).toBe(3_000);
    expect(await page.locator('.chosen-bar').innerText()).toContain('1 chosen');
    expect(await page.locator('.table-note').innerText()).toMatch(/^150 experiments/);
    expect(asked.filter((url) => url.includes('limit=500'))).toEqual([]);
    // A link to the table begins at its top.
    await page.getByRole('link', { name: 'Projects' }).first().click();
    await page.locator('main a', { hasText: 'returned' }).click();
    await page.locator('[data-index="0"] a').waitFor();
    expect(await page.locator('.chosen-bar').count()).toBe(0);
  });

  test('lets j and k begin at the row that was opened', async () => {
    const project_id = await newProject(service.client, 'reopened');
    for (const name of ['fourth', 'third', 'second', 'first'])
      await recordRun(service.client, project_id, { name, status: 'SUCCEEDED' });
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    const openThird = () => page.locator('[data-index="2"] a').click();
    await visit(page, `projects/${project_id}`);
    await openThird();
    await page.getByRole('heading', { name: 'third', exact: true }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'reopened', exact: true }).waitFor();
    await page.locator('[data-index="2"] a').waitFor();
    await page.keyboard.press('j');
    await expect.poll(focused).toBe('third');
    await page.keyboard.press('j');
    await expect.poll(focused).toBe('fourth');
  });

  test('does not show what has been deleted meanwhile', async () => {
    const project_id = await newProject(service.client, 'thinned');
    const ids: string[] = [];
    for (const name of ['first', 'second', 'third'])
      ids.push(await recordRun(service.client, project_id, { name, status: 'SUCCEEDED' }));
    await visit(page, `projects/${project_id}`);
    await page.locator('[data-index="0"] a').click();
    await page.waitForURL(/experiments\/\w+/);
    await service.client.call<typeof deleteExperiment>(
      'DELETE /projects/{project_id}/experiments/{experiment_id}',
      { path: { project_id, experiment_id: ids[1] ?? '' } },
    );
    await page.goBack();
    await expect.poll(names).toEqual(['third', 'first']);
  });
});

describe('a page', () => {
  test('has a title of its own, and the focus moves to its heading', async () => {
    const project_id = await newProject(service.client, 'entitled');
    const experiment_id = await recordRun(service.client, project_id, { name: 'run-7', status: 'SUCCEEDED' });
    const focused = () => page.evaluate(() => document.activeElement?.tagName ?? '');
    await page.goto(`${service.url}/console#/`);
    for (const [place, title] of [
      ['', 'Home · Model Project Service'],
      ['projects', 'Projects · Model Project Service'],
      [`projects/${project_id}`, 'entitled · Model Project Service'],
      [`projects/${project_id}/settings`, 'Settings · entitled · Model Project Service'],
      [`projects/${project_id}/start`, 'Start a training · entitled · Model Project Service'],
      [`projects/${project_id}/experiments/${experiment_id}`, 'run-7 · entitled · Model Project Service'],
      [
        `projects/${project_id}/experiments/${experiment_id}?tab=artifacts`,
        'Artifacts · run-7 · entitled · Model Project Service',
      ],
      ['models', 'Models · Model Project Service'],
      ['users', 'Users · Model Project Service'],
      ['account', 'Account · Model Project Service'],
      ['nowhere', 'Page not found · Model Project Service'],
    ] as const) {
      await visit(page, place);
      await expect.poll(() => page.title()).toBe(title);
    }
    await page.getByRole('link', { name: 'Projects' }).first().click();
    await expect.poll(focused).toBe('H1');
    await page.locator('main a', { hasText: 'entitled' }).click();
    await page.getByRole('heading', { name: 'entitled' }).waitFor();
    await expect.poll(focused).toBe('H1');
    // Who opens a part of a page is at its link already.
    await page.getByRole('link', { name: 'Settings' }).click();
    await expect.poll(() => page.title()).toContain('Settings');
    await expect.poll(focused).toBe('A');
  });

  test('has a title also while nobody is signed in', async () => {
    const other = await service.open();
    await expect.poll(() => other.title()).toBe('Sign in · Model Project Service');
    await other.context().close();
  });
});

test('nothing of it made a script fail or broke the policy of the page', () => {
  expect(service.faults).toEqual([]);
});
