import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axeFindings } from './axe.ts';
import { type ConsoleService, settle, startConsole, visit } from './console-service.ts';
import { newProject, recordRun } from './record-run.ts';

let service: ConsoleService;
let page: Page;
let project_id: string;
let answer = 200;
const received: string[] = [];
const receiver = createServer(async (request, response) => {
  let body = '';
  for await (const part of request) body += part;
  received.push(body);
  response.writeHead(answer).end('no_service');
});

beforeAll(async () => {
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const host = `127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  service = await startConsole(undefined, { HOOK_HOSTS: host });
  project_id = await newProject(service.client, 'hooked');
  page = await service.enter();
  await visit(page, `projects/${project_id}/settings`);
  await page.getByRole('button', { name: 'Add a hook' }).click();
  await page.getByLabel('Name', { exact: true }).last().fill('team');
  await page.getByLabel('URL of the receiver').fill(`http://${host}/its-secret-path`);
});
afterAll(async () => {
  await service.close();
  receiver.close();
});

test('a hook is added, tried, and shows what came of its messages', async () => {
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByRole('button', { name: 'Test' }).click();
  await page.getByText('Test of the hook team').waitFor();
  await recordRun(service.client, project_id, {
    name: 'digits-1',
    metrics: { accuracy: [0.5, 0.7] },
    status: 'FAILED',
  });
  await page.getByRole('button', { name: 'Messages' }).click();
  await expect.poll(() => received.length).toBe(2);
  await page.getByRole('button', { name: 'Messages' }).click();
  await page.getByText('digits-1 failed').waitFor();
  await settle(page);

  expect(received[1]).toContain('digits-1 failed');
  expect(await page.content()).not.toContain('its-secret-path');
  expect(await axeFindings(page)).toEqual([]);
});

test('a message that failed says why, and is sent once more', async () => {
  answer = 404;
  await page.getByRole('button', { name: 'Send “digits-1 failed” once more' }).click();
  await page.getByText('The receiver answered 404: no_service.').waitFor();
  answer = 200;
  await page.getByRole('button', { name: 'Send “digits-1 failed” once more' }).click();
  await page.getByText('The receiver answered 404: no_service.').waitFor({ state: 'detached' });

  expect(received).toHaveLength(4);
});

test('a hook of a program shows its secret once', async () => {
  await page.getByRole('button', { name: 'Change', exact: true }).click();
  await page.getByLabel('Receiver', { exact: true }).selectOption('standard');
  await page.getByRole('button', { name: 'Save', exact: true }).last().click();
  await page.getByText('are signed with this secret').waitFor();

  expect(await page.content()).toContain('whsec_');
  expect(await axeFindings(page)).toEqual([]);
  expect(service.faults).toEqual([]);
});

test('the page fits on a phone', async () => {
  const phone = await service.enter({ width: 390, scheme: 'dark' });
  await visit(phone, `projects/${project_id}/settings`);
  await phone.getByText('team', { exact: true }).waitFor();
  const widest = await phone.evaluate(() => document.documentElement.scrollWidth);

  expect(widest).toBeLessThanOrEqual(390);
});
