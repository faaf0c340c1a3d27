import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { endpoint as putServing } from '../../functions/optimization/serving/put-serving.endpoint.ts';
import type { endpoint as readServing } from '../../functions/optimization/serving/read-serving.endpoint.ts';
import type { AnswerOf } from '../../shared/client/route.ts';
import { axeFindings } from './axe.ts';
import { type ConsoleService, startConsole, visit } from './console-service.ts';
import { quantize } from './record-compression.ts';
import { recordModel } from './record-model.ts';

let service: ConsoleService;
let page: Page;
beforeAll(async () => {
  service = await startConsole();
  await recordModel(service.client, 'digits', 'digits.onnx');
  page = await service.enter();
});
afterAll(() => service.close());

const button = (name: string) => page.getByRole('button', { name });

test('a model is served, asked with numbers and a picture, and turned off', async () => {
  await visit(page, 'models/digits');
  await page.getByRole('link', { name: 'Serving' }).click();
  await button('Serve it').click();
  await page.getByRole('heading', { name: 'Try it' }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await button('Run').click();
  const answer = page.locator('pre.answer');
  await answer.waitFor();
  const blank = await answer.textContent();

  const picture = readFileSync(join(import.meta.dirname, 'picture.png'));
  const file = { name: 'picture.png', mimeType: 'image/png', buffer: picture };
  await page.getByLabel(/A picture for image/).setInputFiles(file);
  await expect.poll(() => page.getByLabel('Request').inputValue()).toMatch(/"data":\[(?!0,0,0,0,0,0,0,0)/);
  await button('Run').click();
  await expect.poll(() => answer.textContent()).not.toBe(blank);

  await page.getByLabel('Request').fill('{"inputs": []}');
  await button('Run').click();
  await expect.poll(() => page.getByRole('alert').textContent()).toContain('lacks the input "image"');
  await button('Turn off').click();
  await page.getByText('This model is not served').waitFor();
});

describe('the page of a result that answers', () => {
  const route = '/optimization/models/{model_name}/serving' as const;
  const path = { model_name: 'small' };
  let version: string;
  const row = () => page.getByRole('row').filter({ has: page.getByRole('link', { name: version }) });
  beforeAll(async () => {
    const { client } = service;
    await recordModel(client, 'small', 'digits.onnx');
    version = await quantize(client, 'small', { strategy: 'float16', precision: '16' });
    await client.call<typeof putServing>(`PUT ${route}`, { path, query: { version: 'original' } });
    await client.call<typeof putServing>(`PUT ${route}`, { path, query: { version } });
    await visit(page, 'models/small/serving');
    await page.getByRole('heading', { name: 'Try it' }).waitFor();
  });

  test('shows its receipt beside it, the same as that of its compression', async () => {
    const panel = page.locator('.panel').filter({ has: page.getByRole('heading', { name: 'Receipt' }) });
    await panel.locator('.receipt-bar').first().waitFor();
    const beside = await panel.locator('.receipt').innerText();
    expect(beside).toMatch(/File\n.*→/);
    expect(await axeFindings(page)).toEqual([]);

    await row().getByRole('link', { name: version }).click();
    const own = page.locator('.version .receipt');
    await own.locator('.receipt-bar').first().waitFor();
    expect(await own.innerText()).toBe(beside);
    await page.goBack();
    await panel.locator('.receipt-bar').first().waitFor();
  });

  test('answers a question, and counts it for the version that answered', async () => {
    await button('Run').click();
    const answer = page.locator('pre.answer');
    await answer.waitFor();
    const { model_version, outputs } = JSON.parse((await answer.textContent()) ?? '');
    expect(model_version).toBe(version);
    expect(outputs).toMatchObject([{ datatype: 'FP32', shape: [1, 10] }]);
    const code = await page.locator('.panel').last().innerText();
    expect(code).toContain('export TOKEN=$(mps tokens create small --rights read)');
    // Counters are written once a second.
    await expect
      .poll(async () => {
        await page.reload();
        await row().waitFor();
        return row().getByRole('cell').allTextContents();
      })
      .toMatchObject({ 2: '1', 3: '0', 6: '1', 7: expect.stringContaining('answers') });
  });

  test('fits a phone, with the list of versions beside nothing that scrolls', async () => {
    const own = await service.enter({ width: 390 });
    await visit(own, 'models/small/serving');
    await own.getByRole('heading', { name: 'Try it' }).waitFor();
    const [widest, versions] = await own.evaluate(() => {
      const list = document.querySelector('main .scroll-x');
      return [document.documentElement.scrollWidth, (list?.scrollWidth ?? 0) - (list?.clientWidth ?? 0)];
    });

    expect(widest).toBeLessThanOrEqual(390);
    expect(versions).toBe(0);
    await own.context().close();
  });

  test('says what a month costs at the present rate: nothing here, and the estimate of a deployment', async () => {
    const cost = (on: Page) => on.getByText(/a month at the present rate/).textContent();
    expect(await cost(page)).toBe('US$ 0 a month at the present rate: free on this machine.');
    const priced = await service.enter();
    await priced.route('**/optimization/models/small/serving', async (intercepted) => {
      const response = await intercepted.fetch();
      const serving: AnswerOf<typeof readServing> = await response.json();
      const estimate = { month: 0.000012, million_requests: 0.87 };
      await intercepted.fulfill({ response, json: { ...serving, estimate } });
    });
    await visit(priced, 'models/small/serving');
    expect(await cost(priced)).toBe('US$ 0.000012 a month at the present rate; nothing while nobody asks.');
  });

  test('lets another version answer, whose page has no receipt', async () => {
    await page
      .getByRole('row')
      .filter({ hasText: /^original/ })
      .getByRole('button', { name: 'let it answer' })
      .click();
    await expect.poll(() => page.getByRole('heading', { name: 'Receipt' }).count()).toBe(0);
    await button('Run').click();
    await expect.poll(() => page.locator('pre.answer').textContent()).toContain('"original"');
  });
});
