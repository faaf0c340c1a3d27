import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { endpoint as createExperiment } from '../../functions/experiments/records/create-experiment.endpoint.ts';
import type { endpoint as putConfig } from '../../functions/projects/configs/put-config.endpoint.ts';
import type { endpoint as readConfig } from '../../functions/projects/configs/read-config.endpoint.ts';
import type { endpoint as createProject } from '../../functions/projects/projects/create-project.endpoint.ts';
import type { endpoint as readProject } from '../../functions/projects/projects/read-project.endpoint.ts';
import type { endpoint as updateProject } from '../../functions/projects/projects/update-project.endpoint.ts';
import type { endpoint as changeUserType } from '../../functions/users/change-user-type.endpoint.ts';
import type { endpoint as createUser } from '../../functions/users/create-user.endpoint.ts';
import { recordMany } from '../../infra/tools/demo/record-many.ts';
import { type ConsoleService, signIn, startConsole, visit } from './console-service.ts';

let service: ConsoleService;

beforeAll(async () => {
  service = await startConsole();
});
afterAll(() => service.close());

const newProject = async (name: string): Promise<string> => {
  const { project_id } = await service.client.call<typeof createProject>('POST /projects/', {
    query: {
      'project-name': name,
      'project-description': 'As it was.',
      'project-type': 'supervised',
      'project-task': 'classification',
    },
  });
  return project_id;
};

describe('two who change the same thing', () => {
  test('a project: the second is told what the first wrote, and loses nothing', async () => {
    const project_id = await newProject('shared');
    const page = await service.enter();
    await visit(page, `projects/${project_id}/settings`);
    await page.getByLabel('Description').fill('typed here');
    await service.client.call<typeof updateProject>('PATCH /projects/{project_id}', {
      path: { project_id },
      body: { project_description: 'written elsewhere' },
    });
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const told = page.getByRole('alert').filter({ hasText: 'written elsewhere' });
    await told.waitFor();
    expect(await page.getByLabel('Description').inputValue()).toBe('typed here');
    await page.getByRole('button', { name: 'Save mine' }).click();
    await told.waitFor({ state: 'detached' });
    const read = async () =>
      await service.client.call<typeof readProject>('GET /projects/{project_id}', { path: { project_id } });
    await expect.poll(async () => (await read()).project_description).toBe('typed here');
    await page.context().close();
  });

  test('a configuration: both versions are kept', async () => {
    const project_id = await newProject('configured');
    const path = { project_id, config_id: 'train.yaml' };
    const put = (file: string) =>
      service.client.call<typeof putConfig>('PUT /projects/{project_id}/configs/{config_id}', { path, file });
    await put('epochs: 1\n');
    const page = await service.enter();
    await visit(page, `projects/${project_id}/files`);
    const editor = page.getByLabel('Content of train.yaml');
    await editor.fill('epochs: 3\n');
    await put('epochs: 2\n');
    await page.getByRole('button', { name: 'Save', exact: true }).first().click();
    await page.getByRole('alert').filter({ hasText: 'epochs: 2' }).waitFor();
    expect(await editor.inputValue()).toBe('epochs: 3\n');
    await page.getByRole('button', { name: 'Save mine' }).click();
    await page.getByText('Saved.').waitFor();
    const { content, version } = await service.client.call<typeof readConfig>(
      'GET /projects/{project_id}/configs/{config_id}',
      { path },
    );
    expect({ content, version }).toEqual({ content: 'epochs: 3\n', version: 3 });
    await page.context().close();
  });
});

describe('an account that loses its rights while it looks', () => {
  test('sees nothing more until it has them again', async () => {
    const { project_id } = await recordMany(service.client, 1, { name: 'withheld' });
    // While one runs, the page looks again soon.
    await service.client.call<typeof createExperiment>('POST /projects/{project_id}/experiments', {
      path: { project_id },
      body: { name: 'running' },
    });
    const { user_id } = await service.client.call<typeof createUser>('POST /users/', {
      fields: { username: 'vera', account_type: 'viewer' },
      body: { password: 'a sentence for vera' },
    });
    const setType = (account_type: 'guest' | 'viewer') =>
      service.client.call<typeof changeUserType>('POST /users/{user_id}/type', {
        path: { user_id },
        fields: { account_type },
      });
    const page = await service.open();
    await signIn(page, { username: 'vera', password: 'a sentence for vera' });
    await visit(page, `projects/${project_id}`);
    await expect.poll(() => page.locator('.row.body').count()).toBe(2);
    // Every change of the type ends the tokens; what the next one may see is the service's to say.
    const signInAgain = async () => {
      await page.getByRole('heading', { name: 'Your session has ended' }).waitFor();
      await page.getByLabel('Password', { exact: true }).fill('a sentence for vera');
      await page.getByRole('button', { name: 'Sign in' }).click();
    };
    await setType('guest');
    await signInAgain();
    await page.getByRole('heading', { name: 'You are signed in as a guest' }).waitFor();
    expect(await page.locator('.row.body').count()).toBe(0);
    await setType('viewer');
    await signInAgain();
    await expect.poll(() => page.locator('.row.body').count()).toBe(2);
    await page.context().close();
  });
});

describe('a phone that is turned', () => {
  test('shows every page in both directions, with charts as wide as it is', async () => {
    const { project_id } = await recordMany(service.client, 3, { name: 'turned' });
    const page = await service.enter({ width: 390 });
    await visit(page, `projects/${project_id}`);
    const ids = await page
      .locator('.row.body a')
      .evaluateAll((all) => all.map((one) => /experiments\/(\w+)/.exec(one.getAttribute('href') ?? '')?.[1]));
    for (const place of [
      `projects/${project_id}`,
      `projects/${project_id}/experiments/${ids[0]}`,
      `projects/${project_id}/compare?experiments=${ids.join()}&tab=curves`,
      `projects/${project_id}/start`,
      'account',
    ]) {
      await visit(page, place);
      for (const viewport of [
        { width: 844, height: 390 },
        { width: 390, height: 844 },
      ]) {
        await page.setViewportSize(viewport);
        const overhang = () =>
          page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        await expect.poll(overhang, { message: `${place} at ${viewport.width}` }).toBeLessThanOrEqual(0);
        const [plot] = await page.locator('.plot').all();
        if (plot === undefined) continue;
        const slack = () =>
          plot.evaluate((box) => Math.abs(box.clientWidth - (box.querySelector('.uplot')?.clientWidth ?? 0)));
        await expect.poll(slack, { message: `chart of ${place}` }).toBeLessThanOrEqual(2);
      }
    }
    await page.context().close();
  });
});

test('nothing of it made a script fail or broke the policy of the page', () => {
  expect(service.faults).toEqual([]);
});
