import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ConsoleService, startConsole } from './console-service.ts';

let service: ConsoleService;

beforeAll(async () => {
  service = await startConsole();
});
afterAll(() => service.close());

test('a new tab and a pasted link open signed in', async () => {
  const page = await service.enter();
  const tab = await page.context().newPage();
  await tab.goto(`${service.url}/console#/models`);
  await tab.locator('.shell').waitFor();
  expect(await tab.getByLabel('Password', { exact: true }).count()).toBe(0);
  await tab.getByRole('heading', { name: 'Models', exact: true }).waitFor();
});

test('signing out in one tab ends the others', async () => {
  const page = await service.enter();
  const tab = await page.context().newPage();
  await tab.goto(`${service.url}/console#/account`);
  await tab.getByRole('heading', { name: 'Account', exact: true }).waitFor();
  await tab.getByRole('button', { name: 'Sign out', exact: true }).first().click();
  await page.getByLabel('Password', { exact: true }).waitFor();
  await expect.poll(() => page.locator('.shell').count()).toBe(0);
});

test('the page of the account lists the browsers, and signs all of them out', async () => {
  const page = await service.enter();
  const elsewhere = await service.enter();
  await page.goto(`${service.url}/console#/account`);
  const rows = page.getByRole('row', { name: /Chrom/ });
  await rows.nth(1).waitFor();
  expect(await rows.filter({ hasText: 'this one' }).count()).toBe(1);
  await page.getByRole('button', { name: 'Sign out everywhere' }).click();
  await page.getByRole('button', { name: 'Sign out all of them' }).click();
  await page.getByLabel('Password', { exact: true }).waitFor();
  await elsewhere.reload();
  await elsewhere.getByRole('heading', { name: 'Your session has ended' }).waitFor();
});

test('no script of the page can read the cookie, and the cookie alone is nothing', async () => {
  const page = await service.enter();
  expect(await page.evaluate(() => document.cookie)).toBe('');
  expect(await page.evaluate(() => fetch('users/me').then(({ status }) => status))).toBe(401);
});
