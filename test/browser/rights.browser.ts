import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { endpoint as putConfig } from '../../functions/projects/configs/put-config.endpoint.ts';
import type { endpoint as putEnvironment } from '../../functions/projects/environment/put-environment.endpoint.ts';
import type { endpoint as putMember } from '../../functions/projects/members/put-member.endpoint.ts';
import type { endpoint as createUser } from '../../functions/users/create-user.endpoint.ts';
import { axeFindings } from './axe.ts';
import { type ConsoleService, signIn, startConsole, visit } from './console-service.ts';
import { recordModel } from './record-model.ts';
import { newProject, recordRun } from './record-run.ts';
import { trainFolder } from './seed.ts';

let service: ConsoleService;
let project_id: string;
let experiment_id: string;
let running: string;
const password = 'a long sentence for them all';

/** Logs a traceback among other lines, as a program does that goes on after an error. */
const program = `
import sys, traceback
print("epoch 1", flush=True)
def main():
    raise ValueError("no lr")
try:
    main()
except ValueError:
    traceback.print_exc()
    sys.stderr.flush()
print("epoch 2")
`;

beforeAll(async () => {
  service = await startConsole();
  const { client } = service;
  project_id = await newProject(client, 'theirs');
  experiment_id = await recordRun(client, project_id, {
    name: 'ended',
    metrics: { accuracy: [0.5, 0.7] },
    status: 'SUCCEEDED',
  });
  running = await recordRun(client, project_id, { name: 'running', metrics: { accuracy: [0.5] } });
  await client.call<typeof putConfig>('PUT /projects/{project_id}/configs/{config_id}', {
    path: { project_id, config_id: 'train.yaml' },
    file: 'epochs: 7\n',
  });
  await client.call<typeof putEnvironment>('PUT /projects/{project_id}/environment', {
    path: { project_id },
    query: { entry_point_command: 'python3 theirs.py', env_type: 'system', dependencies: 'none' },
  });
  for (const [username, account_type] of [
    ['gus', 'guest'],
    ['vera', 'viewer'],
    ['dora', 'developer'],
    ['mia', 'developer'],
  ] as const)
    await client.call<typeof createUser>('POST /users/', {
      fields: { username, account_type },
      body: { password },
    });
  await client.call<typeof putMember>('PUT /projects/{project_id}/members/{username}', {
    path: { project_id, username: 'mia' },
    fields: { role: 'developer' },
  });
  await recordModel(client, 'digits', 'digits.onnx');
});
afterAll(() => service.close());

async function enterAs(username: string): Promise<Page> {
  const page = await service.open();
  await signIn(page, { username, password });
  return page;
}

/** Names of everything that can be pressed in the content of a place, and of the fields that can be filled in. */
async function offered(page: Page, place: string): Promise<string[]> {
  await visit(page, place);
  return page
    .locator('main :is(button, a.button, textarea, input:not([type=search], [type=checkbox], [type=range]))')
    .evaluateAll((all) =>
      all.map((one) => (one.getAttribute('aria-label') ?? one.textContent?.trim()) || one.tagName),
    );
}

const places = () => [
  '',
  'projects',
  `projects/${project_id}`,
  `projects/${project_id}/files`,
  `projects/${project_id}/settings`,
  `projects/${project_id}/start`,
  `projects/${project_id}/sweeps`,
  `projects/${project_id}/sweeps/new`,
  `projects/${project_id}/experiments/${experiment_id}`,
  `projects/${project_id}/experiments/${running}`,
  'models',
  'models/digits',
];
const changing =
  /^(?:Start a|Start the sweep|Sweep around|Save|Share|Delete|Remove|Train|Compress|Promote|Store|New|Upload|Run again|Edit|Cancel|Choose|Replace|Create\b|Write the configuration|Make it|INPUT|TEXTAREA)|Content of/;

describe('nothing is offered that the service would refuse', () => {
  test('to a viewer, who reads everything', async () => {
    const page = await enterAs('vera');
    for (const place of places())
      expect(
        (await offered(page, place)).filter((name) => changing.test(name)),
        place,
      ).toEqual([]);
    await visit(page, `projects/${project_id}/files`);
    await page.getByText('epochs: 7').waitFor();
    await page.getByText('python3 theirs.py').waitFor();
    await visit(page, `projects/${project_id}/settings`);
    await page.getByText('As it was.').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(await axeFindings(page)).toEqual([]);
    await page.context().close();
  });

  test('to a developer whom nobody has made a member, who makes projects of their own', async () => {
    const page = await enterAs('dora');
    for (const place of places().slice(2, 10))
      expect(
        (await offered(page, place)).filter((name) => changing.test(name)),
        place,
      ).toEqual([]);
    expect(await offered(page, 'projects')).toContain('New project');
    const ofModel = await offered(page, 'models/digits');
    expect(ofModel).toContain('Compress');
    expect(ofModel).not.toContain('Promote');
    expect(ofModel).not.toContain('Delete the model');
    await page.context().close();
  });

  test('to a member, who trains and changes, but neither shares nor deletes the project', async () => {
    const page = await enterAs('mia');
    expect(await offered(page, `projects/${project_id}`)).toContain('Start a training');
    const settings = await offered(page, `projects/${project_id}/settings`);
    expect(settings).toContain('Save');
    expect(settings.filter((name) => /^(?:Share|Remove|Delete)/.test(name))).toEqual([]);
    expect(await offered(page, `projects/${project_id}/start`)).toContain('Train');
    expect(await offered(page, `projects/${project_id}/experiments/${experiment_id}`)).toContain('Edit');
    await page.context().close();
  });

  test('to a guest, whose home says who lets them see more', async () => {
    const page = await enterAs('gus');
    for (const place of ['', 'projects', `projects/${project_id}`, 'models']) {
      await visit(page, place);
      await page.getByRole('heading', { name: 'You are signed in as a guest' }).waitFor();
      expect(await page.getByRole('alert').count()).toBe(0);
    }
    expect(await page.locator('nav.side a').allInnerTexts()).not.toContain('Projects');
    expect(await axeFindings(page)).toEqual([]);
    await visit(page, 'account');
    await page.getByRole('heading', { name: 'Tokens' }).waitFor();
    await page.context().close();
  });

  test('of a run that has not ended: it is cancelled before it is deleted', async () => {
    const page = await service.enter();
    const deletion = page.getByRole('button', { name: 'Delete the experiment' });
    const place = (id: string) => `projects/${project_id}/experiments/${id}`;
    await visit(page, place(running));
    await page.getByRole('button', { name: 'Cancel' }).waitFor();
    expect(await deletion.count()).toBe(0);
    await visit(page, place(experiment_id));
    await deletion.waitFor();
    await page.context().close();
  });
});

describe('while the service is away', () => {
  test('a part that was not loaded before says so in words, and comes by itself once it is back', async () => {
    const page = await service.enter();
    await visit(page, 'projects');
    await service.stop();
    await visit(page, 'models');
    const told = page.getByRole('alert').first();
    await told.waitFor();
    expect(await page.locator('main').innerText()).toMatch(/The service cannot be reached/);
    expect(await page.locator('main').innerText()).not.toMatch(/fetch|import|module|from before/i);
    expect(await page.locator('.away').count()).toBe(1);
    await service.start();
    await page.getByRole('heading', { name: 'Models', level: 1 }).waitFor();
    await page.locator('.away').waitFor({ state: 'detached' });
    await page.context().close();
  });

  test('a change that fails says so in words', async () => {
    const page = await service.enter();
    await visit(page, `projects/${project_id}/settings`);
    await page.getByLabel('Description').fill('typed while it is away');
    await service.stop();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const told = page.locator('form .problem');
    await told.waitFor();
    expect(await told.innerText()).toMatch(/The service cannot be reached/);
    expect(await told.innerText()).not.toMatch(/fetch|http/i);
    await service.start();
    await page.context().close();
  });
});

test('the errors of a log have a traceback as one block, with its frames', async () => {
  const made = await trainFolder(service.url, service.client, { 'train.py': program }, 'traced');
  const page = await service.enter();
  await visit(page, `projects/${made.project_id}/experiments/${made.experiment_id}?tab=log`);
  await expect.poll(() => page.locator('.log').innerText()).toContain('epoch 2');
  await page.getByRole('button', { name: 'Errors' }).click();
  const lines = page.locator('.log-line > span');
  await expect
    .poll(async () =>
      (await lines.allInnerTexts()).map((line) => line.trim()).filter((line) => !/^[~^]+$/.test(line)),
    )
    .toEqual([
      'Traceback (most recent call last):',
      expect.stringMatching(/^File ".*train\.py", line 7, in <module>$/),
      'main()',
      expect.stringMatching(/^File ".*train\.py", line 5, in main$/),
      'raise ValueError("no lr")',
      'ValueError: no lr',
    ]);
  await page.context().close();
});

test('the reason of a failure has a line for each sentence, and its log is not followed', async () => {
  const failing = { 'train.py': 'raise ValueError("no lr")\n' };
  await trainFolder(service.url, service.client, failing, 'failing').catch(() => undefined);
  const page = await service.enter();
  const failed = page.getByRole('link', { name: 'in failing' }).first();
  await expect.poll(() => failed.innerText()).toMatch(/ValueError: no lr$/m);
  expect(await failed.innerText()).not.toContain('exit code');
  await failed.click();
  const lines = /^ValueError: no lr\nThe command ended with exit code 1\.$/m;
  await expect.poll(() => page.locator('.reason').innerText()).toMatch(lines);
  expect(await page.locator('.timeline').innerText()).toMatch(lines);
  // It has reported nothing, so that its log stands where its curves would.
  await expect.poll(() => page.locator('.log').innerText()).toContain('no lr');
  // Its log goes on no more, so that nobody is offered to follow it.
  await page.getByRole('link', { name: 'Log' }).click();
  await expect.poll(() => page.locator('.log').innerText()).toContain('no lr');
  expect(await page.getByRole('button', { name: 'Follow' }).count()).toBe(0);
  await page.context().close();
});

test('an empty project says how an MLflow client records into it, and as whom', async () => {
  const empty = await newProject(service.client, 'empty');
  const page = await service.enter();
  await visit(page, `projects/${empty}`);
  await page.getByRole('button', { name: 'MLflow', exact: true }).click();
  const text = await page.locator('.empty').innerText();
  expect(text).toContain(`export MLFLOW_TRACKING_URI=${service.url}/mlflow`);
  expect(text).toContain(`export MLFLOW_EXPERIMENT_ID=${empty}`);
  expect(text).toContain('export MLFLOW_TRACKING_USERNAME=admin');
  expect(text).toContain('.data/admin-password');
  await page.context().close();
});

test('nothing of it made a script fail or broke the policy of the page', () => {
  expect(service.faults.filter((fault) => !fault.includes('net::'))).toEqual([]);
});
