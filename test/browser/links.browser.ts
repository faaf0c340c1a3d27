import { afterAll, beforeAll, expect, test } from 'vitest';
import type { endpoint as createLink } from '../../functions/links/create-link.endpoint.ts';
import type { endpoint as deleteLink } from '../../functions/links/delete-link.endpoint.ts';
import { axeFindings } from './axe.ts';
import { type ConsoleService, settle, startConsole, visit } from './console-service.ts';
import { newProject, recordRun } from './record-run.ts';

let service: ConsoleService;
beforeAll(async () => {
  service = await startConsole();
});
afterAll(() => service.close());

test('an anonymous link opens without an account, asks for nothing else, and ends when it is revoked', async () => {
  const { client, url } = service;
  const project_id = await newProject(client, 'secret-lab');
  const params = { lr: '0.1', data: '/home/ada/digits' };
  const metrics = { accuracy: [0.5, 0.875] };
  const experiment_id = await recordRun(client, project_id, { name: 'baseline', params, metrics });
  const { secret, link_id } = await client.call<typeof createLink>('POST /projects/{project_id}/links', {
    path: { project_id },
    body: { subject: { kind: 'experiment', experiment_id }, anonymous: true },
  });
  const page = await service.open();
  // The page of signing in asks, too.
  await settle(page);
  const asked = new Set<string>();
  page.on('request', (request) => {
    if (!request.url().startsWith('blob:'))
      asked.add(`${request.method()} ${new URL(request.url()).pathname}`);
  });

  await page.goto('about:blank');
  await page.goto(`${url}/console#/s/${secret}`);
  await page.getByRole('heading', { name: 'baseline', level: 1 }).waitFor();
  await page.getByAltText('Curves of baseline').waitFor();
  await settle(page);

  const text = await page.locator('body').innerText();
  expect(text).toContain('0.875');
  expect(text).not.toMatch(/secret-lab|ada|admin/);
  expect([...asked].filter((one) => !/ \/console(?:$|\/)/.test(one)).sort()).toEqual([
    'GET /links/shared',
    'GET /links/shared/chart',
    'POST /links/session',
  ]);
  expect(await axeFindings(page)).toEqual([]);

  await client.call<typeof deleteLink>('DELETE /projects/{project_id}/links/{link_id}', {
    path: { project_id, link_id },
  });
  await page.reload();
  await page.getByText('This link has ended or was revoked').waitFor();
  expect(service.faults).toEqual([]);
});

test('a saved view is shared where it is open, by two clicks, and its link shows its rows in its order', async () => {
  const { client } = service;
  const project_id = await newProject(client, 'views to share');
  for (const [name, accuracy] of [
    ['first adam', 0.5],
    ['second adam', 0.75],
    ['third sgd', 0.9],
  ] as const)
    await recordRun(client, project_id, { name, params: { lr: '0.1' }, metrics: { accuracy: [accuracy] } });
  const page = await service.enter({ width: 1440 });
  await visit(page, `projects/${project_id}?filter=adam%20lr%20%3E%200.01&sort=best`);
  expect(await page.getByRole('button', { name: /^Share/ }).count()).toBe(0);
  await page.getByRole('button', { name: 'Add a view of what is shown' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Of Adam');
  await page.keyboard.press('Enter');

  await page.getByRole('button', { name: 'Share Of Adam by a link' }).click();
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole('button', { name: 'Make the link' }).click();
  const address = await page.getByRole('dialog').locator('code').innerText();
  const stranger = await service.open();
  await stranger.goto(address.trim());
  await stranger.getByRole('heading', { name: 'Of Adam', level: 1 }).waitFor();
  await stranger.setViewportSize({ width: 390, height: 844 });
  const named = async () =>
    (await stranger.getByRole('columnheader').allInnerTexts()).filter((text) => text.includes('adam'));
  await expect.poll(named).toEqual(['second adam', 'first adam']);
  await settle(stranger);

  expect(await stranger.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  expect(await stranger.locator('body').innerText()).not.toContain('third sgd');
  expect(service.faults).toEqual([]);
});
