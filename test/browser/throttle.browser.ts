import type { Page, Response } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ConsoleService, signIn, startConsole, visit } from './console-service.ts';

// The stage of a new account lets five requests through at once. It fills up slowly here, so that nothing is there by chance.
const burst = 5;

let service: ConsoleService;

beforeAll(async () => {
  service = await startConsole(undefined, {
    LIMIT_REQUESTS_PER_SECOND: '1',
    LIMIT_REQUEST_BURST: String(burst),
  });
});
afterAll(() => service.close());

/** Wait until the stage lets as many through as it ever does. */
const calm = () => new Promise((resolve) => setTimeout(resolve, burst * 1_000));

/** Take all that the stage lets through now, as others may who use the service. */
async function crowd(): Promise<void> {
  const statuses = await Promise.all(
    Array.from({ length: 2 * burst }, async () => (await fetch(`${service.url}/health`)).status),
  );
  expect(statuses).toContain(429);
}

/** The answers to requests for the console and its files, as they come. */
function watchFiles(page: Page): { file: string; status: number }[] {
  const seen: { file: string; status: number }[] = [];
  page.on('response', (response: Response) => {
    const file = /\/console(?:\/([^/]*))?$/.exec(new URL(response.url()).pathname);
    if (file !== null) seen.push({ file: file[1] ?? 'page', status: response.status() });
  });
  return seen;
}

async function blankPage(): Promise<Page> {
  const context = await service.browser.newContext({ reducedMotion: 'reduce' });
  const page = await context.newPage();
  page.setDefaultTimeout(240_000);
  page.on('pageerror', (error) => service.faults.push(error.message));
  return page;
}

test('the first page is whole in each of three windows, in three requests', async () => {
  for (let count = 0; count < 3; count += 1) {
    await calm();
    const page = await blankPage();
    const seen = watchFiles(page);
    await page.goto(`${service.url}/console`);
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(seen.map(({ status }) => status)).toEqual([200, 200, 200]);
    await page.context().close();
  }
});

test('parts that are refused at first are there a moment later, and are asked for once more only', async () => {
  const page = await blankPage();
  await calm();
  await page.goto(`${service.url}/console`);
  await signIn(page, service.admin);
  await page.getByRole('heading', { level: 1 }).waitFor();
  const seen = watchFiles(page);
  const refused = () => seen.filter(({ file, status }) => file.startsWith('part-') && status === 429);
  await crowd();
  const visiting = visit(page, 'models');
  // The stage fills up while a slow page loads, so others go on until it has refused a part.
  while (refused().length === 0) await crowd();
  await visiting;
  await page.getByRole('heading', { level: 1, name: 'Models' }).waitFor();
  // The module that is imported then comes from the cache of the browser.
  const sent = await page.evaluate(() =>
    (performance.getEntriesByType('resource') as PerformanceResourceTiming[])
      .filter(
        ({ name, responseStatus, transferSize }) =>
          /\/part-/.test(name) && responseStatus === 200 && transferSize > 0,
      )
      .map(({ name }) => name),
  );
  expect(sent.length).toBeGreaterThan(0);
  expect(new Set(sent).size).toBe(sent.length);
  await page.context().close();
});

test('a style sheet that is refused is loaded again', async () => {
  await calm();
  const page = await blankPage();
  let asked = 0;
  await page.route('**/*.css', async (route) => {
    asked += 1;
    if (asked > 1) await route.continue();
    else await route.fulfill({ status: 429, headers: { 'Retry-After': '1' }, body: '{}' });
  });
  await page.goto(`${service.url}/console`);
  await page.waitForFunction(() => document.adoptedStyleSheets.some(({ cssRules }) => cssRules.length > 0));
  await page.waitForFunction(() => getComputedStyle(document.body).margin === '0px');
  expect(asked).toBeGreaterThan(1);
  await page.context().close();
});

test('a page whose script is refused says what to do', async () => {
  await calm();
  const page = await blankPage();
  await page.route('**/*.js', (route) => route.fulfill({ status: 429, body: '{}' }));
  await page.goto(`${service.url}/console`);
  await page.getByText('reload this page').waitFor({ state: 'visible' });
  await page.unroute('**/*.js');
  await calm();
  await page.reload();
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  expect(await page.getByText('reload this page').count()).toBe(0);
  await page.context().close();
});

test('nothing of it made a script fail', () => {
  expect(service.faults).toEqual([]);
});
