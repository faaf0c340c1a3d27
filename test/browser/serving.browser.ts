import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axeFindings } from './axe.ts';
import { type ConsoleService, startConsole, visit } from './console-service.ts';
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
