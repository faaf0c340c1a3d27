import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axeFindings } from './axe.ts';
import { type ConsoleService, settle, startConsole, visit } from './console-service.ts';
import { trainFolder } from './seed.ts';

const shots = join(import.meta.dirname, '../../.build/screenshots');

/** Needs little of its machine, for long enough that its use says something. */
const program = `
import time
for epoch in range(1, 34):
    print(f'epoch {epoch}: accuracy {1 - 1 / (1 + epoch)}', flush=True)
    time.sleep(1)
`;

let service: ConsoleService;
let place: string;

beforeAll(async () => {
  await mkdir(shots, { recursive: true });
  // A dollar a minute for a vCPU.
  service = await startConsole(undefined, { LOCAL_PRICE: '60' });
  const { project_id, experiment_id } = await trainFolder(
    service.url,
    service.client,
    { 'train.py': program },
    'oversized',
  );
  place = `projects/${project_id}/experiments/${experiment_id}`;
});
afterAll(() => service.close());

test.each([
  { width: 1280, scheme: 'light' },
  { width: 390, scheme: 'dark' },
] as const)(
  'a run shows what its machine did, what less would have cost, and its curves apart, at $width pixels',
  async (look) => {
    const page = await service.enter(look);
    await visit(page, place);
    const panel = page.getByRole('region', { name: 'Machine' });
    const text = await panel.innerText();
    const section = page.locator('details.chart-section', { hasText: 'system' });
    const chart = section.locator('.chart', { hasText: 'system/cpu_utilization_percentage' });
    await chart.scrollIntoViewIfNeeded();
    const drawn = () =>
      chart.locator('canvas').evaluate((canvas) => {
        const { width, height } = canvas as HTMLCanvasElement;
        const { data } = (canvas as HTMLCanvasElement)
          .getContext('2d')
          ?.getImageData(0, 0, width, height) ?? {
          data: [],
        };
        return data.some((byte) => byte !== 0);
      });
    await expect.poll(drawn).toBe(true);
    await settle(page);
    await page.screenshot({ path: join(shots, `machine-${look.width}.png`) });
    const titles = await section.innerText();

    expect(text).toMatch(/Peak 0\.\d+ of 2 GiB, \d+ % of 1 vCPU\./);
    expect(text).toMatch(
      /With 0\.5 GiB and 0\.25 vCPUs this run would have cost US\$ 0\.\d\d instead of \d\.\d\d\./,
    );
    expect(titles).toContain('cpu_utilization_percentage');
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(look.width);
    expect(await axeFindings(page)).toEqual([]);
    await page.context().close();
  },
);

test('the advice is followed by a run with the smaller size', async () => {
  const page = await service.enter();
  await visit(page, place);
  await page.getByRole('button', { name: 'Run again with this size' }).click();
  const dialog = page.getByRole('dialog');
  await settle(page);
  await page.screenshot({ path: join(shots, 'machine-rerun.png') });
  const fields = await dialog
    .locator('input')
    .evaluateAll((all) => all.map((one) => (one as HTMLInputElement).value));

  expect(fields).toEqual(expect.arrayContaining(['0.25', '512']));
  expect(await axeFindings(page)).toEqual([]);
  expect(service.faults).toEqual([]);
  await page.context().close();
});
