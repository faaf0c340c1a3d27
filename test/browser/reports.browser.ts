import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { endpoint as createReport } from '../../functions/projects/reports/create-report.endpoint.ts';
import type { endpoint as readReport } from '../../functions/projects/reports/read-report.endpoint.ts';
import type { endpoint as updateReport } from '../../functions/projects/reports/update-report.endpoint.ts';
import { axeFindings } from './axe.ts';
import { type ConsoleService, settle, startConsole, visit } from './console-service.ts';
import { newProject, recordRun } from './record-run.ts';

let service: ConsoleService;
beforeAll(async () => {
  service = await startConsole();
});
afterAll(() => service.close());

const block = (kind: string, ...lines: string[]) => `\`\`\`mps ${kind}\n${lines.join('\n')}\n\`\`\`\n`;

const hostile = [
  '[a link](javascript:alert(1)) and ![a picture](http://127.0.0.1:9/picture.png)',
  '<img src=x onerror=alert(1)><script>alert(1)</script>',
].join('\n\n');

test('a report shows its blocks, is frozen, written on and saved as a page without scripts', async () => {
  const { client, url } = service;
  const project_id = await newProject(client, 'digits');
  const run = (name: string, lr: string, loss: number[]) =>
    recordRun(client, project_id, { name, params: { lr }, metrics: { loss } });
  const one = await run('<b onmouseover=alert(1)>baseline', '0.1', [1, 0.6, 0.4, 0.3, 0.28]);
  const other = await run('lower-lr', '0.01', [1, 0.8, 0.7, 0.6, 0.55]);
  const both = `experiments: ${one}, ${other}`;
  const text = [
    '# What was tried\n\nTwo rates of learning, on the same data and from the same seed.\n',
    block('chart', both, 'metric: loss', 'title: Loss', 'note: 3 lr halved'),
    block('table', both),
    '# What was found\n\nThe higher rate is better at every step.\n',
    block('value', `experiment: ${one}`, 'metric: loss', 'show: min'),
    hostile,
  ].join('\n');
  const { report_id } = await client.call<typeof createReport>('POST /projects/{project_id}/reports', {
    path: { project_id },
    body: { title: 'Rates of learning', text },
  });
  const asked = new Set<string>();

  const page = await service.enter({ width: 1440 });
  page.on('request', (request) => asked.add(new URL(request.url()).origin));
  await visit(page, `projects/${project_id}/reports`);
  await page.getByRole('link', { name: 'Rates of learning' }).click();
  await page.getByRole('img', { name: /^loss of/ }).waitFor();
  await page.getByText('Step 3: lr halved').waitFor();
  await page.locator('.report-value').getByText('0.28').waitFor();
  await settle(page);
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole('button', { name: 'Freeze' }).nth(1).click();
  await page.getByText(/^as of 2/).waitFor();

  const saving = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export' }).click();
  const html = await readFile((await (await saving).path()) ?? '', 'utf8');
  expect(html).toContain('Two rates of learning');
  expect(html).toContain('<polyline');
  expect(html).not.toMatch(/<script|<button|javascript:|<img src=x|<b onmouse|http:\/\//);

  // By keyboard alone: edit, insert a block, save.
  await page.getByRole('button', { name: 'Edit' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Insert a block' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('checkbox', { name: 'lower-lr' }).focus();
  await page.keyboard.press('Space');
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole('button', { name: 'Insert', exact: true }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Save' }).focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => page.getByRole('img', { name: /^loss of/ }).count()).toBe(2);

  const phone = await service.enter({ width: 390, scheme: 'dark' });
  await visit(phone, `projects/${project_id}/reports/${report_id}`);
  await phone
    .getByRole('img', { name: /^loss of/ })
    .first()
    .waitFor();
  await settle(phone);
  expect(await axeFindings(phone)).toEqual([]);
  const pictures = process.env['REPORT_PICTURES'];

  await visit(page, `projects/${project_id}/reports/${report_id}`);
  await page.getByRole('button', { name: 'Share' }).click();
  expect(await axeFindings(page)).toEqual([]);
  if (pictures !== undefined) await page.screenshot({ path: `${pictures}/share.png` });
  await page.getByRole('button', { name: 'Make the link' }).click();
  const address = await page.getByText('#/s/').innerText();
  for (const scheme of ['light', 'dark'] as const) {
    const stranger = await service.open({ scheme });
    stranger.on('request', (request) => asked.add(new URL(request.url()).origin));
    await stranger.goto('about:blank');
    await stranger.goto(address.trim());
    await stranger
      .getByRole('img', { name: /^loss of/ })
      .first()
      .waitFor();
    await stranger.locator('.report-value').getByText('0.28').waitFor();
    await settle(stranger);
    expect(await axeFindings(stranger)).toEqual([]);
    expect(await stranger.locator('.report-block a, main button').count()).toBe(0);
    if (pictures !== undefined)
      await stranger.screenshot({ path: `${pictures}/link-${scheme}.png`, fullPage: true });
  }
  if (pictures !== undefined) {
    await phone.screenshot({ path: `${pictures}/390-dark.png`, fullPage: true });
    await page.screenshot({ path: `${pictures}/1440-light.png`, fullPage: true });
  }
  expect([...asked]).toEqual([new URL(url).origin]);
  expect(service.faults).toEqual([]);
});

test('a report is written beside what its readers will see, and a change is not lost', async () => {
  const { client } = service;
  const project_id = await newProject(client, 'written');
  const run = await recordRun(client, project_id, { name: 'only', metrics: { loss: [1, 0.25] } });
  const value = block('value', `experiment: ${run}`, 'metric: loss');
  const { report_id } = await client.call<typeof createReport>('POST /projects/{project_id}/reports', {
    path: { project_id },
    body: { title: 'Untitled report', text: value },
  });
  const page = await service.enter({ width: 1440 });
  await visit(page, `projects/${project_id}/reports/${report_id}?edit=1`);
  const preview = page.getByRole('region', { name: 'Preview' });
  const source = page.getByLabel('Text', { exact: true });
  await preview.getByText('0.25').waitFor();
  expect(await page.getByLabel('Title', { exact: true }).inputValue()).toBe('');

  // A block that the service does not know yet, and one that it would refuse.
  await source.fill(`**New** text\n\n${value}\n${block('value', `experiment: ${run}`, 'metric: other')}`);
  await preview.getByText('Shown once the report is saved.').waitFor();
  await preview.locator('strong', { hasText: 'New' }).waitFor();
  await preview.getByText('0.25').waitFor();
  await source.fill(`${value}\n${block('valve', 'metric: loss')}`);
  await page.getByText(/"valve" is no block/).waitFor();

  // A link of the page, and Back.
  await source.fill(`Kept text\n\n${value}`);
  await page.getByRole('link', { name: 'Reports' }).click();
  await page.getByRole('button', { name: 'New report' }).waitFor();
  await page.goBack();
  await expect.poll(() => source.inputValue()).toContain('Kept text');

  await source.press('Control+s');
  await page.getByText('The report is saved').waitFor();
  await page.getByRole('button', { name: 'Close' }).waitFor();
  await source.press('End');
  await source.pressSequentially('!');
  await page.getByRole('button', { name: 'Discard the changes' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();
  await page.getByRole('article').getByText('Kept text').waitFor();
  expect(service.faults).toEqual([]);
});

test('a draft that is found again does not replace what somebody else has stored meanwhile', async () => {
  const { client } = service;
  const project_id = await newProject(client, 'written by two');
  const { report_id } = await client.call<typeof createReport>('POST /projects/{project_id}/reports', {
    path: { project_id },
    body: { title: 'Of two', text: 'Begun' },
  });
  const path = { project_id, report_id };
  const page = await service.enter({ width: 1440 });
  await visit(page, `projects/${project_id}/reports/${report_id}?edit=1`);
  const source = page.getByLabel('Text', { exact: true });
  await source.fill('My draft');
  await page.getByRole('link', { name: 'Reports' }).click();
  await page.getByRole('button', { name: 'New report' }).waitFor();
  await client.call<typeof updateReport>('PATCH /projects/{project_id}/reports/{report_id}', {
    path,
    body: { text: 'Of somebody else' },
    headers: { 'If-Match': '*' },
  });

  await page.goBack();
  await expect.poll(() => source.inputValue()).toBe('My draft');
  await source.press('Control+s');

  await page.getByText(/Somebody else has changed the report/).waitFor();
  const { text } = await client.call<typeof readReport>('GET /projects/{project_id}/reports/{report_id}', {
    path,
  });
  expect(text).toBe('Of somebody else');
});
