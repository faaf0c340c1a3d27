import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { endpoint as putEnvironment } from '../../functions/projects/environment/put-environment.endpoint.ts';
import type { endpoint as cancelSweep } from '../../functions/projects/sweeps/cancel-sweep.endpoint.ts';
import type { endpoint as readSweep } from '../../functions/projects/sweeps/read-sweep.endpoint.ts';
import type { endpoint as createUser } from '../../functions/users/create-user.endpoint.ts';
import { axeFindings } from './axe.ts';
import { type ConsoleService, signIn, startConsole, visit } from './console-service.ts';
import { countedHands } from './counted-hands.ts';
import { newProject } from './record-run.ts';
import { trainFolder } from './seed.ts';

const shots = join(import.meta.dirname, '../../.build/screenshots');
const program = `
import json, math, os
config = dict(line.strip().split(': ') for line in open(os.environ['CONFIG_PATH']) if ': ' in line)
with open(os.environ['METRICS_FILE'], 'a') as metrics:
    loss = (math.log10(float(config['learning_rate'])) + 2) ** 2
    metrics.write(json.dumps({'val_loss': loss, 'step': 1}) + '\\n')
`;
const files = {
  'train.py': program,
  'train.yaml': 'learning_rate: 0.02\nbatch_size: 32\noptimizer: sgd\nshuffle: true\nepochs: 120\nseed: 1\n',
};

let service: ConsoleService;
let page: Page;
let trained: { project_id: string; experiment_id: string };

beforeAll(async () => {
  service = await startConsole(undefined, { LOCAL_PRICE: '0.05' });
  trained = await trainFolder(service.url, service.client, files, 'tuned');
  page = await service.enter();
});
afterAll(() => service.close());

const form = () => `projects/${trained.project_id}/sweeps/new`;
const row = (name: string, on = page) => on.getByRole('group', { name: new RegExp(`^${name}(?: |$|now)`) });
const start = (on = page) => on.getByRole('button', { name: 'Start the sweep' });

/** Wait for the page of the sweep that was begun, cancel the sweep, and return it. */
async function begun() {
  await page.getByRole('heading', { name: 'Parameters' }).waitFor();
  const sweep_id = /sweeps\/([0-9a-z]{26})/.exec(page.url())?.[1] ?? '';
  const path = { project_id: trained.project_id, sweep_id };
  const sweep = await service.client.call<typeof readSweep>('GET /projects/{project_id}/sweeps/{sweep_id}', {
    path,
  });
  if (sweep.status === 'RUNNING')
    await service.client.call<typeof cancelSweep>('POST /projects/{project_id}/sweeps/{sweep_id}/cancel', {
      path,
    });
  return sweep;
}

describe('the form of a sweep', () => {
  test('begins a search by two clicks from the list of sweeps', async () => {
    const hands = countedHands(page);
    await visit(page, `projects/${trained.project_id}/sweeps`);
    await hands.click(page.getByRole('link', { name: 'Start a sweep' }).first());
    await page.getByText(/20 trainings, about/).waitFor();
    const sizes = ['vCPUs', 'Memory (MiB)', 'GPUs', 'Stop after (s)'].map((label) =>
      page.getByLabel(label, { exact: true }).getAttribute('placeholder'),
    );
    expect(await Promise.all(sizes)).toEqual(['1', '2048', '0', '21600']);
    expect(await axeFindings(page)).toEqual([]);
    await hands.click(start());
    const { method, trials, parallel, parameters, config } = await begun();

    expect(hands.clicks).toBe(2);
    expect({ method, trials, parallel, parameters, config }).toEqual({
      method: 'tpe',
      trials: 20,
      parallel: 2,
      config: 'train.yaml',
      parameters: {
        learning_rate: { min: 0.002, max: 0.2, scale: 'log' },
        batch_size: { min: 16, max: 64, step: 1 },
      },
    });
  });

  test('shows each fault at its field, and begins once they are corrected', async () => {
    await visit(page, form());
    await row('learning_rate').getByLabel('Min', { exact: true }).fill('0');
    await row('batch_size').getByLabel('Max', { exact: true }).fill('8');
    await page.getByLabel('Trials', { exact: true }).fill('many');
    await page.getByLabel('Budget (US$)').fill('-1');
    await page.getByText('4 fields to correct').waitFor();
    const told = (label: string, on = page.locator('main')) =>
      on.getByLabel(label, { exact: true }).evaluate((input) => {
        const id = input.getAttribute('aria-describedby') ?? '';
        return document.getElementById(id)?.textContent;
      });

    expect(await told('Min', row('learning_rate'))).toBe('must be above 0 on a log scale');
    expect(await told('Max', row('batch_size'))).toContain('must be above min, 16');
    expect(await told('Trials')).toContain('must be a whole number');
    expect(await told('Budget (US$)')).toContain('must be a number above 0');
    expect(await axeFindings(page)).toEqual([]);
    await start().click();
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-invalid')))
      .toBe('true');

    await row('learning_rate').getByLabel('Min', { exact: true }).fill('0.001');
    await row('batch_size').getByLabel('Kind').selectOption('Values');
    await row('batch_size').getByLabel('Values').fill('16, 32');
    await row('optimizer').getByLabel('Kind').selectOption('Values');
    await row('optimizer').getByLabel('Values').fill('sgd, adam');
    await row('epochs').getByLabel('Value').fill('3');
    await page.getByLabel('Trials', { exact: true }).fill('2');
    await page.getByLabel('Budget (US$)').fill('5');
    await page.getByLabel('Stop after (s)').fill('60');
    await page.getByLabel('Early stop').selectOption({ label: 'ASHA: the best share goes on' });
    await page.getByLabel('From step').fill('4');
    await page.getByLabel('Good enough at').fill('0.01');
    await page.getByLabel('Name', { exact: true }).fill('typed');
    await page.getByText(/^2 trainings, about/).waitFor();
    await start().click();
    const { name, trials, budget, timeout, stop, until, parameters } = await begun();

    expect({ name, trials, budget, timeout, stop, until, parameters }).toEqual({
      name: 'typed',
      trials: 2,
      budget: 5,
      timeout: 60,
      stop: { rule: 'asha', step_min: 4, reduction: 3 },
      until: { metric: 0.01 },
      parameters: {
        learning_rate: { min: 0.001, max: 0.2, scale: 'log' },
        batch_size: { values: [16, 32] },
        optimizer: { values: ['sgd', 'adam'] },
        epochs: { value: 3 },
      },
    });
  });

  test('makes lists of ranges for a grid, which has as many trials as points', async () => {
    await visit(page, form());
    await page.getByLabel('Sampler').selectOption({ label: 'Grid: all combinations' });
    await row('batch_size').getByLabel('Step').fill('16');
    await page.getByText(/^12 trainings/).waitFor();

    expect(await row('learning_rate').getByLabel('Values').inputValue()).toBe('0.002, 0.02, 0.2');
    expect(await page.getByLabel('Trials', { exact: true }).count()).toBe(0);
  });

  test('asks for what the trials differ in, if nothing does', async () => {
    await visit(page, form());
    for (const name of ['learning_rate', 'batch_size'])
      await row(name).getByLabel('Kind').selectOption('Fixed');
    await page.getByText('Choose what to vary').waitFor();
    await start().click();

    await page.getByText('1 field to correct').waitFor();
    expect(page.url()).toContain('sweeps/new');
  });

  test('searches flags of the command', async () => {
    const { project_id } = trained;
    const command = async (entry_point_command: string) =>
      service.client.call<typeof putEnvironment>('PUT /projects/{project_id}/environment', {
        path: { project_id },
        query: { entry_point_command, env_type: 'system', dependencies: 'none' },
      });
    await command('python3 train.py --lr 0.1 --layers=2 --name {config}');
    await visit(page, `projects/${project_id}`);
    await visit(page, form());
    await page.getByLabel('Vary', { exact: true }).selectOption({ label: 'Flags of the command' });
    await row('lr').getByLabel('Max', { exact: true }).fill('0.5');
    await page.getByLabel('Trials', { exact: true }).fill('1');
    await page.getByText(/^1 training,/).waitFor();
    expect(await page.getByRole('group', { name: 'name' }).count()).toBe(0);
    await start().click();
    const { args, parameters } = await begun();
    await command('python3 train.py');

    expect({ args, parameters }).toEqual({
      args: true,
      parameters: {
        lr: { min: 0.01, max: 0.5, scale: 'log' },
        layers: { min: 1, max: 4, step: 1 },
      },
    });
  });

  test('is filled with the values of a run by one click on its page', async () => {
    const hands = countedHands(page);
    await visit(page, `projects/${trained.project_id}/experiments/${trained.experiment_id}`);
    expect(await axeFindings(page)).toEqual([]);
    await hands.click(page.getByRole('link', { name: 'Sweep around this' }));
    await page.getByRole('heading', { name: /^Sweep around/ }).waitFor();

    expect(hands.clicks).toBe(1);
    expect(await row('learning_rate').getByLabel('Min', { exact: true }).inputValue()).toBe('0.002');
    expect(await row('seed').getByLabel('Kind').inputValue()).toBe('fixed');
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toMatch(/^around /);
    expect(service.faults).toEqual([]);
  });

  test('of a project without a configuration leads to a training', async () => {
    const empty = await newProject(service.client, 'empty');
    await visit(page, `projects/${empty}/sweeps/new`);
    await page.getByText('The project has no configuration yet').waitFor();

    expect(await page.getByRole('link', { name: 'Start a training' }).getAttribute('href')).toBe(
      `#/projects/${empty}/start`,
    );
  });

  test.each([
    { width: 1440, scheme: 'light' },
    { width: 1440, scheme: 'dark' },
    { width: 390, scheme: 'light' },
    { width: 390, scheme: 'dark' },
  ] as const)('fits $width pixels, $scheme', async (look) => {
    const own = await service.enter(look);
    await visit(own, `${form()}?around=${trained.experiment_id}`);
    await row('learning_rate', own).getByLabel('Min', { exact: true }).fill('0');
    await own.getByText('1 field to correct').waitFor();
    await own.screenshot({
      path: join(shots, `start-sweep-${look.width}-${look.scheme}.png`),
      fullPage: true,
    });
    const widest = await own.evaluate(() => document.documentElement.scrollWidth);
    const findings = await axeFindings(own);
    await own.context().close();

    expect(widest).toBeLessThanOrEqual(look.width);
    expect(findings).toEqual([]);
  });
});

test.each(['viewer', 'developer', 'guest'] as const)(
  'a %s without a role in the project is offered no sweep, and told why at its address',
  async (account_type) => {
    const password = 'a long sentence for everybody';
    await service.client.call<typeof createUser>('POST /users/', {
      fields: { username: account_type, account_type },
      body: { password },
    });
    const own = await service.open();
    await signIn(own, { username: account_type, password });
    const { project_id, experiment_id } = trained;
    for (const place of [
      `projects/${project_id}/sweeps`,
      `projects/${project_id}/experiments/${experiment_id}`,
    ]) {
      await visit(own, place);
      await own.getByRole('heading', { level: 1 }).waitFor();
      expect(await own.getByRole('link', { name: /^(?:Start a sweep|Sweep around)/ }).count()).toBe(0);
    }
    await visit(own, form());
    const reason = account_type === 'guest' ? 'You are signed in as a guest' : 'You may read this project';
    await own.getByRole('heading', { name: reason }).waitFor();

    expect(await start(own).count()).toBe(0);
    expect(await own.getByRole('alert').count()).toBe(0);
    await own.context().close();
  },
);
