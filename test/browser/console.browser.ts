import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { endpoint as createExperiment } from '../../functions/experiments/records/create-experiment.endpoint.ts';
import type { endpoint as updateExperiment } from '../../functions/experiments/records/update-experiment.endpoint.ts';
import type { endpoint as listExperiments } from '../../functions/experiments/search/list-experiments.endpoint.ts';
import type { endpoint as createReport } from '../../functions/projects/reports/create-report.endpoint.ts';
import type { endpoint as createSchedule } from '../../functions/projects/schedules/create-schedule.endpoint.ts';
import { inventedRun, recordMany } from '../../infra/tools/demo/record-many.ts';
import { axeFindings } from './axe.ts';
import { admin, type ConsoleService, settle, signIn, startConsole, visit } from './console-service.ts';
import { hostile, peak, recordLong, type Seeded, seed } from './seed.ts';

let service: ConsoleService;
let seeded: Seeded;
let many: string;
let report_id: string;
let page: Page;
const recorded = 120;
const root = join(import.meta.dirname, '../..');
const shots = join(root, '.build/screenshots');

beforeAll(async () => {
  service = await startConsole();
  seeded = await seed(service.url, service.client);
  ({ project_id: many } = await recordMany(service.client, recorded));
  const path = { project_id: seeded.hello.project_id };
  await service.client.call<typeof createSchedule>('POST /projects/{project_id}/schedules', {
    path,
    body: { cron: '0 3 * * *', name: 'nightly' },
  });
  ({ report_id } = await service.client.call<typeof createReport>('POST /projects/{project_id}/reports', {
    path,
    body: {
      title: 'What was tried',
      text: `# Loss\n\n\`\`\`mps table\nexperiments: ${seeded.hello.experiment_id}\n\`\`\``,
    },
  }));
  page = await service.enter();
});
afterAll(() => service.close());

const text = (selector: string): Promise<string> => page.locator(selector).first().innerText();
const button = (name: string | RegExp) => page.getByRole('button', { name, exact: typeof name === 'string' });

describe('recording many experiments', () => {
  test('goes on where an interrupted one stopped', async () => {
    const name = 'interrupted';
    const { project_id } = await recordMany(service.client, 2, { name });
    const { name: begun } = inventedRun(2);
    await service.client.call<typeof createExperiment>('POST /projects/{project_id}/experiments', {
      path: { project_id },
      body: { name: begun },
    });
    expect(await recordMany(service.client, 4, { name })).toMatchObject({ project_id, found: 2 });
    expect(await recordMany(service.client, 4, { name })).toMatchObject({ found: 4 });
    const rows = await service.client.call<typeof listExperiments>('GET /projects/{project_id}/experiments', {
      path: { project_id },
    });
    expect(rows.map((row) => row.name).sort()).toEqual(
      [0, 1, 2, 3].map((index) => inventedRun(index).name).sort(),
    );
  });
});

describe('signing in', () => {
  test('a wrong password is told, the right one leads home', async () => {
    const other = await service.open();
    await other.getByLabel('User', { exact: true }).fill('admin');
    await other.getByLabel('Password', { exact: true }).fill('a wrong sentence');
    await other.getByRole('button', { name: 'Sign in' }).click();
    await other.getByRole('alert').waitFor();
    await signIn(other);
    await other.getByRole('heading', { name: 'Last ended' }).waitFor();
    await expect.poll(() => other.getByRole('heading', { name: 'Needs you' }).count()).toBe(1);
    await other.context().close();
  });
});

describe('the table', () => {
  const names = () => page.locator('.row.body .cell.name').allInnerTexts();

  test('has every experiment, drawing only those that are seen', async () => {
    await visit(page, `projects/${many}`);
    await page.getByText(`${recorded} experiments`, { exact: false }).nth(1).waitFor();
    expect((await names()).length).toBeLessThan(60);
    expect(await page.locator('[role=table]').getAttribute('aria-rowcount')).toBe(String(recorded + 1));
  });

  test('is filtered by the grammar of the API, and says where a filter is wrong', async () => {
    await page.getByLabel('Filter').fill("params.optimizer = 'adam' AND metrics.accuracy > 0.5");
    await expect.poll(() => text('.table-note')).toMatch(/^\d+ of 120/);
    expect((await names()).every((name) => name.includes('-adam-'))).toBe(true);
    await page.getByLabel('Filter').fill('metrics.accuracy >');
    await expect.poll(() => text('.table-note')).toContain('A value is missing after >');
    await page.getByLabel('Filter').fill('metrics.accuracy > 0.5 )');
    await expect.poll(() => text('.table-note')).toContain('position 24');
    await page.getByLabel('Filter').fill('');
  });

  test('is sorted without dropping rows, in the address', async () => {
    await page.getByRole('columnheader', { name: /Best/ }).getByRole('button').click();
    const best = async () =>
      (await page.locator('.row.body').allInnerTexts()).map((row) => Number(/\b0\.\d+(?=\n)/.exec(row)?.[0]));
    await expect.poll(() => page.url()).toContain('sort=best');
    expect(await page.locator('[role=table]').getAttribute('aria-rowcount')).toBe(String(recorded + 1));
    await expect.poll(async () => (await best()).length).toBeGreaterThan(5);
    await page.reload();
    await settle(page);
    expect(page.url()).toContain('sort=best');
    await page.locator('[aria-sort=descending]').waitFor();
  });

  test('has the columns that were chosen, which its address holds', async () => {
    await button('Columns').click();
    await page.getByRole('dialog').getByText('seed', { exact: true }).click();
    await button('Done').click();
    await expect.poll(() => decodeURIComponent(page.url())).toContain('params.seed');
    await expect
      .poll(() => page.getByRole('columnheader').allInnerTexts())
      .toContainEqual(expect.stringContaining('seed'));
  });

  test('is grouped with mean and deviation', async () => {
    await page.getByLabel('Group by').selectOption('params.model');
    await expect.poll(() => page.locator('.grouped tbody tr').count()).toBe(5);
    await expect.poll(() => text('.grouped')).toMatch(/0\.\d+ ± 0\.\d+/);
    await page.getByRole('button', { name: /^Show only the .* of resnet18$/ }).click();
    await expect.poll(() => text('.table-note')).toMatch(/^\d+ of 120/);
    await page.getByLabel('Filter').fill('');
  });

  test('is used by the keyboard alone', async () => {
    await page.locator('[data-index="0"] a').focus();
    await page.keyboard.press('ArrowDown');
    await expect
      .poll(() =>
        page.evaluate(() => document.activeElement?.closest('[data-index]')?.getAttribute('data-index')),
      )
      .toBe('1');
    await page.keyboard.press('Enter');
    await page.waitForURL(/experiments\/\w+/);
    await page.goBack();
    await settle(page);
  });

  test('leads from chosen experiments to their comparison', async () => {
    await visit(page, `projects/${many}`);
    for (const index of [0, 1, 2]) await page.locator(`[data-index="${index}"] input`).check();
    await page.getByRole('link', { name: 'Compare' }).click();
    await page.getByRole('heading', { name: 'Compare 3 experiments' }).waitFor();
    await page.locator('.compare-table').waitFor();
    expect(await page.locator('.compare-table tbody tr:not(.group)').count()).toBeGreaterThan(3);
    expect(await page.locator('.compare-table tr.equal').count()).toBe(0);
    await page.getByRole('link', { name: 'Parallel coordinates' }).click();
    await page.getByRole('group', { name: 'Axes of 3 experiments' }).waitFor();
    const asked: string[] = [];
    const note = (request: { url(): string }) => void asked.push(new URL(request.url()).pathname);
    page.on('request', note);
    await page.reload();
    await page.getByRole('group', { name: 'Axes of 3 experiments' }).waitFor();
    page.off('request', note);
    // One comparison and one list, however many are compared.
    expect(asked.filter((path) => path.endsWith('/compare'))).toHaveLength(1);
    expect(asked.filter((path) => /\/experiments\/\w+$/.test(path))).toEqual([]);
  });
});

describe('curves', () => {
  test('of several experiments are smoothed, logarithmic, zoomed and kept', async () => {
    await page.getByRole('link', { name: 'Curves' }).click();
    await page.locator('.plot canvas').first().waitFor();
    await expect.poll(() => page.locator('.chart').count()).toBe(3);
    await page.getByRole('button', { name: 'Log y' }).click();
    await page.getByLabel('Smoothing').fill('70');
    await expect.poll(() => page.url()).toMatch(/log=y.*smooth=0.7/);
    await settle(page);
    const plot = page.locator('.plot').first();
    await plot.focus();
    await page.keyboard.press('ArrowRight');
    await page.locator('.tip').waitFor();
    await expect.poll(() => text('.tip')).toMatch(/step/);
    await page.keyboard.press('+');
    await button('Zoom').click();
    for (const [name, first] of [
      ['PNG', '\x89PNG'],
      ['SVG', '<svg'],
    ] as const) {
      await page
        .getByLabel(/^More for the chart of/)
        .first()
        .click();
      const [download] = await Promise.all([page.waitForEvent('download'), button(name).first().click()]);
      const stream = await download.createReadStream();
      const [chunk] = await stream.take(1).toArray();
      expect(Buffer.from(chunk).toString('latin1')).toContain(first);
      await page.locator('.menu[open] summary').first().click();
    }
  });
});

describe('curves of a long run', () => {
  test('are thinned out by the service, and read finer where somebody zooms in', async () => {
    const path = await recordLong(service.client, 12_000);
    const asked: URL[] = [];
    const note = (request: { url(): string }) => {
      const url = new URL(request.url());
      if (url.pathname.endsWith(`/${path.experiment_id}/metrics`)) asked.push(url);
    };
    page.on('request', note);
    const first = page.waitForResponse((response) =>
      response.url().includes(`/${path.experiment_id}/metrics`),
    );
    await visit(page, `projects/${path.project_id}/experiments/${path.experiment_id}`);
    const points: { value: number }[] = await (await first).json();
    expect(points.length).toBeGreaterThan(300);
    expect(points.length).toBeLessThanOrEqual(1_000);
    expect(points.some(({ value }) => value === peak)).toBe(true);
    const plot = page.locator('.plot').first();
    // A chart is drawn when it comes into view, and takes keys from then on.
    await expect
      .poll(async () => {
        await plot.focus();
        await page.keyboard.press('ArrowRight');
        return page.locator('.tip').count();
      })
      .toBeGreaterThan(0);
    let [from, to] = [0, 12_000];
    let finer: { step: number }[] = [];
    for (let times = 0; times < 10 && to - from >= 300; times += 1) {
      const [response] = await Promise.all([
        page.waitForResponse((one) => one.url().includes('step_from=')),
        page.keyboard.press('+'),
      ]);
      const { searchParams } = new URL(response.url());
      [from, to] = [Number(searchParams.get('step_from')), Number(searchParams.get('step_to'))];
      finer = await response.json();
    }
    expect(to - from).toBeLessThan(300);
    // Every step of a narrow range is there.
    expect(finer.map(({ step }) => step)).toEqual(
      Array.from({ length: 12_000 }, (_, step) => step).filter((step) => step >= from && step <= to),
    );
    expect(asked.every(({ searchParams }) => searchParams.has('points'))).toBe(true);
    page.off('request', note);
  });
});

describe('one experiment', () => {
  test('shows a log of any size, searched and by levels', async () => {
    await visit(page, `projects/${seeded.hard.project_id}/experiments/${seeded.hard.experiment_id}?tab=log`);
    await expect.poll(() => text('.log')).toContain('the last line');
    await page.getByRole('button', { name: 'Read from the beginning' }).click();
    // Nearly 100 million characters are more than a page keeps.
    await expect.poll(() => text('.table-note')).toMatch(/3\d,\d\d\d lines.*older lines dropped/);
    await page.getByRole('button', { name: 'Errors' }).click();
    await expect.poll(() => text('.log')).toContain('ValueError: red');
    await page.getByRole('button', { name: 'All' }).click();
    await page.getByLabel('Search the log').fill('line 29999');
    await expect.poll(() => page.locator('.log mark').count()).toBe(1);
    await expect.poll(() => text('.table-note')).toContain('1 line with “line 29999” in the whole log');
    await page.keyboard.press('Enter');
    const marked = page.locator('.log-line.marked');
    await expect.poll(() => marked.innerText()).toContain('line 29999');
    expect(await page.locator('.log-line').count()).toBeGreaterThan(10);
    // The address is a link to the line, and to what was found.
    await page.reload();
    await expect.poll(() => marked.innerText()).toContain('line 29999');
    await expect.poll(() => text('.table-note')).toContain('1 of 1 line with “line 29999” in the whole log');
    await page.getByLabel('Search the log').fill('line 2999');
    await expect.poll(() => text('.table-note')).toMatch(/^11 lines with “line 2999” in the whole log/);
    await page.locator('.table-note').first().click();
    for (const [key, place] of [
      ['n', '1 of 11'],
      ['n', '2 of 11'],
      ['N', '1 of 11'],
      ['N', '11 of 11'],
    ] as const) {
      await page.keyboard.press(key);
      await expect.poll(() => text('.table-note')).toContain(place);
    }
    await expect.poll(() => marked.innerText()).toContain('line 29999');
    await page.getByRole('button', { name: 'Show only the lines found' }).click();
    await expect.poll(() => page.locator('.log mark').count()).toBe(11);
    await page.getByLabel('Search the log').fill('xxxxx');
    await expect.poll(() => text('.log')).toContain('more characters');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      button('Download the whole log').click(),
    ]);
    expect((await stat(await download.path())).size).toBeGreaterThan(97_000_000);
  });

  test('shows files as data: nothing in them runs', async () => {
    await visit(
      page,
      `projects/${seeded.hard.project_id}/experiments/${seeded.hard.experiment_id}?tab=artifacts`,
    );
    for (const [name, shown] of [
      ['scripted.svg', '.preview-image'],
      ['page.html', '.html-view'],
      ['data.json', 'pre.text'],
      ['table.csv', '.preview-table td'],
      ['notes.md', '.markdown strong'],
    ] as const) {
      await page.getByRole('button', { name: new RegExp(`^${name}`) }).click();
      await page.locator(shown).first().waitFor();
    }
    expect(await page.locator('.markdown img, .markdown a[href^=javascript]').count()).toBe(0);
    expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
  });

  test('has values that are no numbers as gaps', async () => {
    await visit(page, `projects/${seeded.hostile.project_id}/experiments/${seeded.hostile.experiment_id}`);
    await page.locator('.plot canvas').first().waitFor();
    await expect
      .poll(() => page.locator('.charts .odd-values').first().getAttribute('title'))
      .toContain('NaN: gaps in the line');
    const plots = page.locator('.plot');
    await expect.poll(() => plots.count()).toBe(2);
    expect(await text('.single')).toMatch(/single\s+2/);
    const endless = page.locator('.plot[aria-label^="endless by"]');
    await expect.poll(() => endless.getAttribute('aria-label')).toContain('ends at -Infinity');
    await button('Log y').click();
    await page.getByLabel('More chart settings').click();
    await page.getByLabel('Log x').check();
    await page.getByLabel('Horizontal axis').selectOption('Time');
    await expect.poll(() => page.locator('.plot canvas').count()).toBe(2);
  });

  test('is run again with a change, and followed to its end', async () => {
    const { project_id, experiment_id } = seeded.hello;
    await visit(page, `projects/${project_id}/experiments/${experiment_id}`);
    await button('Run again').click();
    await page.getByLabel('learning_rate').fill('0.25');
    await button('Run again with 1 changed').click();
    await page.waitForURL((url) => !url.hash.includes(experiment_id));
    await expect.poll(() => text('.page-head .status')).toBe('Succeeded');
    expect(await page.locator('aside').innerText()).toContain('0.25');
    await page.getByRole('link', { name: 'Configuration' }).click();
    await page.locator('.drawing img').waitFor();
    await expect.poll(() => text('pre.text')).toContain('learning_rate: 0.25');
  });

  test('changed in two tabs loses neither change', async () => {
    const { project_id, experiment_id } = seeded.hello;
    await visit(page, `projects/${project_id}/experiments/${experiment_id}`);
    await button('Edit').first().click();
    await page.getByLabel('Note', { exact: true }).fill('written in this tab');
    await service.client.call<typeof updateExperiment>(
      'PATCH /projects/{project_id}/experiments/{experiment_id}',
      {
        path: { project_id, experiment_id },
        body: { note: 'written elsewhere' },
      },
    );
    await button('Save').click();
    await page.getByRole('alert').waitFor();
    expect(await text('dialog .problem')).toContain('written elsewhere');
    expect(await page.getByLabel('Note', { exact: true }).inputValue()).toBe('written in this tab');
    await button('Save mine').click();
    await expect.poll(() => text('aside .markdown')).toBe('written in this tab');
  });
});

describe('starting', () => {
  test('a training from nothing: configuration, program, environment, data and size', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'console-files-'));
    const archive = join(folder, 'source.tar.gz');
    execFileSync('tar', ['czf', archive, '-C', join(root, 'test/examples/hello'), '.']);
    await visit(page, 'projects');
    await button('New project').click();
    await page.getByLabel('Name').fill('from the browser');
    await button('Create project').click();
    await page.getByRole('heading', { name: 'from the browser' }).waitFor();
    await page.getByRole('link', { name: 'Start a training' }).first().click();
    await button('Write the configuration').click();
    const editor = page.getByLabel('Content of train.yaml');
    await editor.fill('epochs: 2\nlearning_rate: [1\n');
    await button('Save').first().click();
    await expect.poll(() => page.locator('.gutter .bad').count()).toBe(1);
    expect(await text('#editor-fault')).toMatch(/line \d/);
    await editor.fill('epochs: 2\nlearning_rate: 0.5\n');
    await button('Save').first().click();
    await page.getByText('Saved.').waitFor();
    const files = page.locator('input[type=file]');
    await files.nth(0).setInputFiles(archive);
    await page.getByText('source.tar.gz is there').waitFor();
    await page.locator('.step').nth(1).locator('.step-mark.done').waitFor();
    await page.getByLabel('Kind').selectOption('system');
    await page.getByLabel('Command').fill('python3 train.py {config}');
    await page.locator('.step').nth(2).getByRole('button', { name: 'Save' }).click();
    await page.getByText('The environment is stored').waitFor();
    await files
      .nth(1)
      .setInputFiles({ name: 'numbers.csv', mimeType: 'text/csv', buffer: Buffer.from('1,2\n') });
    await page.getByText('numbers.csv is there').waitFor();
    await expect.poll(() => text('.cost')).toContain('1 vCPU');
    await page.getByLabel('vCPUs').fill('3');
    await expect.poll(() => text('.cost')).toContain('must be one of');
    await page.getByLabel('vCPUs').fill('');
    await expect.poll(() => text('.cost')).toContain('1 vCPU');
    await button('Train').click();
    await page.waitForURL(/experiments\/\w+.*tab=log/);
    await expect.poll(() => text('.page-head .status')).toBe('Succeeded');
    await rm(folder, { recursive: true });
  });
});

describe('models', () => {
  test('are uploaded, quantized by the form of the schemas, compared and downloaded', async () => {
    await visit(page, 'models');
    await button('Upload a model').click();
    await page.getByLabel('Name of the model').fill('digits');
    await page
      .locator('dialog input[type=file]')
      .first()
      .setInputFiles(join(root, 'test/fixtures/onnx/digits.onnx'));
    await page.getByText('digits.onnx is there').waitFor();
    await button('Open the model').click();
    await page.getByRole('heading', { name: 'Contents' }).waitFor();
    await button('Compress').click();
    const dialog = page.getByRole('dialog');
    await dialog.locator('summary').click();
    await page.getByLabel('Strategy').selectOption('float16, 16 bit');
    await dialog.getByRole('button', { name: 'Compress' }).click();
    await page.locator('.receipt-bar').first().waitFor();
    expect(await text('.receipt-bars')).toMatch(/File\n/);
    await expect.poll(() => page.locator('.tradeoff circle').count()).toBe(2);
    const [download] = await Promise.all([page.waitForEvent('download'), button(/^Download \d/).click()]);
    expect(download.suggestedFilename()).toMatch(/\.onnx$/);
  });
});

describe('people', () => {
  test('are added, promoted and removed by an admin', async () => {
    await visit(page, 'users');
    await button('New user').click();
    await page.getByLabel('Name').fill('ada');
    await page.getByLabel('Password').fill('another long sentence');
    await button('Create the user').click();
    await page.getByLabel('Account type of ada').selectOption('viewer');
    await page.getByText('The account type is changed').waitFor();
    await button('Delete ada').click();
    await button('Delete the user').click();
    await expect.poll(() => page.getByText('ada', { exact: true }).count()).toBe(0);
  });

  test('have tokens and a picture of their own', async () => {
    await visit(page, 'account');
    await page.getByLabel('Name of a new token').fill('script');
    await button('Make a token').click();
    expect(await text('.secret pre')).toMatch(/^\w+\.[\w-]{43}$/);
    await button('Revoke script').click();
    await button('Revoke the token').click();
    await page.getByText('The token is revoked').waitFor();
    await expect.poll(() => button('Revoke script').count()).toBe(0);
    await page.getByLabel('Name of a new token').fill('narrow');
    await page.getByLabel('It may').selectOption('record');
    await button('Make a token').click();
    await page.getByText('may read and record in all projects').waitFor();
    expect(await button('Remove the picture').count()).toBe(0);
    await page.locator('input[type=file]').setInputFiles(join(root, 'test/browser/picture.png'));
    await page.getByText('picture.png is there').waitFor();
    await button('Remove the picture').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Keep' }).click();
    await button('Remove the picture').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove the picture' }).click();
    await expect.poll(() => button('Remove the picture').count()).toBe(0);
  });
});

describe('faults', () => {
  test('a dead token asks for the password over the page, which keeps what was typed', async () => {
    const other = await service.enter();
    const { project_id, experiment_id } = seeded.hello;
    await visit(other, `projects/${project_id}/experiments/${experiment_id}`);
    await other.getByRole('button', { name: 'Edit', exact: true }).first().click();
    await other.getByLabel('Note', { exact: true }).fill('typed before the end');
    await other.evaluate(async () => {
      const [key = ''] = Object.keys(localStorage).filter((name) => name.startsWith('mps-session '));
      const { page_key } = JSON.parse(localStorage.getItem(key) ?? '{}');
      const headers = { Authorization: `Session ${page_key}`, 'X-Requested-With': 'test' };
      await fetch('auth/session', { method: 'DELETE', headers });
    });
    await other.getByRole('button', { name: 'Save' }).click();
    await other.getByRole('heading', { name: 'Your session has ended' }).waitFor();
    await other.getByLabel('Password', { exact: true }).fill(admin.password);
    await other.getByRole('button', { name: 'Sign in' }).click();
    await other.getByRole('heading', { name: 'Your session has ended' }).waitFor({ state: 'detached' });
    expect(await other.getByLabel('Note', { exact: true }).inputValue()).toBe('typed before the end');
    await other.context().close();
  });

  test('a service that is away is told and forgotten once it is back', async () => {
    const other = await service.enter();
    await visit(other, `projects/${seeded.hostile.project_id}`);
    await other.locator('.row.body').first().waitFor();
    await service.stop();
    await other.locator('.away').waitFor();
    expect(await other.locator('.row.body').count()).toBe(3);
    await service.start();
    await other.locator('.away').waitFor({ state: 'detached' });
    await other.context().close();
  });

  test('curves that could not be read are read once they can be, though the experiment has ended', async () => {
    const other = await service.enter();
    const points = /\/metrics(?:\?|$)/;
    await other.route(points, (route) => route.abort());
    await visit(other, `projects/${seeded.hello.project_id}/experiments/${seeded.hello.experiment_id}`);
    await other.getByText('The curves could not be loaded').waitFor();
    await other.unroute(points);
    await other.locator('.plot canvas').first().waitFor();
    expect(await other.getByText('The curves could not be loaded').count()).toBe(0);
    await other.context().close();
  });

  test('a hidden page asks for nothing, and one with live experiments for little', async () => {
    const other = await service.enter();
    await visit(other, `projects/${seeded.hostile.project_id}`);
    // What the page shows at first is loaded.
    await settle(other);
    await other.waitForTimeout(5_000);
    let requests = 0;
    other.on('request', () => {
      requests += 1;
    });
    await other.waitForTimeout(5_000);
    // The service waits for news of them.
    expect(requests).toBeLessThanOrEqual(10);
    await other.evaluate(() => {
      Object.defineProperty(document, 'hidden', { value: true, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    });
    // What it asked for before is answered.
    await settle(other);
    requests = 0;
    await other.waitForTimeout(4_000);
    expect(requests).toBe(0);
    await other.context().close();
  });
});

describe('every page', () => {
  const looks = [1280, 390].flatMap((width) =>
    (['light', 'dark'] as const).map((scheme) => ({ width, scheme })),
  );

  test.each(looks)(
    'at $width pixels, $scheme: axe finds nothing, nothing overflows, nothing runs',
    async (look) => {
      await mkdir(shots, { recursive: true });
      const own = await service.enter(look);
      const experiment = ({ project_id, experiment_id }: { project_id: string; experiment_id: string }) =>
        `projects/${project_id}/experiments/${experiment_id}`;
      const ids = await own.evaluate(async (project_id) => {
        const [key = ''] = Object.keys(localStorage).filter((name) => name.startsWith('mps-session '));
        const { page_key } = JSON.parse(localStorage.getItem(key) ?? '{}');
        const answer = await fetch(`projects/${project_id}/experiments?limit=5`, {
          headers: { Authorization: `Session ${page_key}` },
        });
        return (await answer.json()).map((one: { experiment_id: string }) => one.experiment_id).join();
      }, many);
      const places: readonly [string, string][] = [
        ['home', ''],
        ['projects', 'projects'],
        ['table', `projects/${many}`],
        ['groups', `projects/${many}?group=params.model`],
        ['files', `projects/${seeded.hello.project_id}/files`],
        ['settings', `projects/${seeded.hello.project_id}/settings`],
        ['experiment', experiment(seeded.hello)],
        ['log', `${experiment(seeded.hard)}?tab=log`],
        ['configuration', `${experiment(seeded.hello)}?tab=config`],
        ['artifacts', `${experiment(seeded.hard)}?tab=artifacts&file=scripted.svg`],
        ['compare', `projects/${many}/compare?experiments=${ids}`],
        ['curves', `projects/${many}/compare?experiments=${ids}&tab=curves&smooth=0.6`],
        ['parallel', `projects/${many}/compare?experiments=${ids}&tab=parallel`],
        ['start', `projects/${seeded.hello.project_id}/start`],
        ['sweeps', `projects/${seeded.hello.project_id}/sweeps`],
        ['start-sweep', `projects/${seeded.hello.project_id}/sweeps/new`],
        ['reports', `projects/${seeded.hello.project_id}/reports`],
        ['report', `projects/${seeded.hello.project_id}/reports/${report_id}`],
        ['audit', 'audit'],
        ['project-audit', `projects/${seeded.hello.project_id}/audit`],
        ['models', 'models'],
        ['model', 'models/digits'],
        ['users', 'users'],
        ['account', 'account'],
        ['hostile-table', `projects/${seeded.hostile.project_id}`],
        ['hostile-experiment', experiment(seeded.hostile)],
      ];
      const problems: string[] = [];
      for (const [name, place] of places) {
        await visit(own, place);
        await own.screenshot({ path: join(shots, `${name}-${look.width}-${look.scheme}.png`) });
        const wider = await own.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        if (wider > 0) problems.push(`${name} is ${wider} pixels too wide`);
        problems.push(...(await axeFindings(own, [look.scheme])).map((finding) => `${name}: ${finding}`));
      }
      expect(problems).toEqual([]);
      expect(await own.evaluate(() => 'hacked' in window)).toBe(false);
      expect(await own.locator('h1').innerText()).toContain(hostile.slice(0, 20));
      await own.context().close();
    },
  );

  test('has run without errors of scripts and without refusals of its policy', () => {
    expect(service.faults).toEqual([]);
  });
});
