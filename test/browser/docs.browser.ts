import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axeFindings } from './axe.ts';
import { type ConsoleService, startConsole } from './console-service.ts';

let service: ConsoleService;

beforeAll(async () => {
  service = await startConsole();
});
afterAll(async () => {
  await service.close();
  expect(service.faults).toEqual([]);
});

async function openDocs(address: string, width = 1440) {
  const context = await service.browser.newContext({
    viewport: { width, height: 900 },
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const page = await context.newPage();
  page.on('pageerror', (error) => service.faults.push(error.message));
  await page.goto(`${service.url}${address}`);
  return page;
}

test('an example is copied as it can be pasted, with the address of this service', async () => {
  const page = await openDocs('/docs');
  const example = page.locator('#install .copied');
  await example.getByRole('button', { name: 'Copy the example' }).click();
  await example.getByText('Copied').waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
    `BASE=${service.url}\nnpm install -g "$BASE/cli/mps.tgz"\nmps login "$BASE"`,
  );
});

test('the example that signs in works as it is printed', async () => {
  const page = await openDocs('/docs');
  const example = (await page.locator('#api pre').textContent()) ?? '';
  const { username, password } = service.admin;
  const { stdout } = spawnSync('bash', ['-c', example], {
    input: `${username}\n${password}\n`,
    encoding: 'utf8',
  });
  expect(stdout).toContain(`"username":"${username}"`);
});

test('the guide leads to the console, and through all pages', async () => {
  const page = await openDocs('/docs');
  const seen: string[] = [];
  for (let next = page.locator('a[rel="next"]'); (await next.count()) > 0; ) {
    // The next look must not be at a page that is still coming.
    await Promise.all([page.waitForEvent('load'), next.click()]);
    seen.push(await page.title());
  }
  expect(seen.length).toBeGreaterThan(10);
  expect(seen.at(-1)).toMatch(/^Errors/);
  await page.getByRole('link', { name: 'Console', exact: true }).click();
  await page.getByLabel('Password', { exact: true }).waitFor();
});

test('anchors of the time of one page lead on', async () => {
  const page = await openDocs('/docs/#createProject');
  await expect.poll(() => page.url()).toBe(`${service.url}/docs?page=projects#createProject`);
  const problem = await openDocs('/docs#problem-not-found');
  await expect.poll(() => problem.url()).toBe(`${service.url}/docs?page=errors#problem-not-found`);
});

test('a search finds an operation of another page', async () => {
  const page = await openDocs('/docs?page=users');
  await page.keyboard.press('/');
  await page.keyboard.type('quantize strategies cancel');
  await page.getByText('1 operation is in the contents').waitFor();
  await page.keyboard.press('Enter');
  await expect.poll(() => page.url()).toMatch(/page=optimization#cancelQuantizeStrategy$/);
});

test.each([390, 1440])('nothing is wider than a window of %i', async (width) => {
  for (const address of ['/docs', '/docs?page=projects', '/docs?page=optimization', '/docs?page=errors']) {
    const page = await openDocs(address, width);
    expect(await page.evaluate(() => document.documentElement.scrollWidth), address).toBeLessThanOrEqual(
      width,
    );
    expect(await axeFindings(page), address).toEqual([]);
    await page.context().close();
  }
});
