import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { axeFindings } from './axe.ts';
import { type ConsoleService, settle, startConsole, visit } from './console-service.ts';
import { countInputs } from './count-inputs.ts';
import { eventsOf, parquetOf, pictureOf, toneOf } from './media-files.ts';
import { recordFiles } from './record-files.ts';
import { newProject, recordRun } from './record-run.ts';

let service: ConsoleService;
let page: Page;
let project_id: string;
const runs: string[] = [];
const steps = 20;

const report = `<!doctype html><html><head><title>t</title><style>h1 { color: rgb(1, 2, 3) } .wide { width: 50% }</style>
<script>window.top.hacked = 1; document.title = 'ran'</script></head>
<body onload="window.top.hacked=1"><h1>Report of run</h1><p style="color: rgb(4, 5, 6)" onclick="window.top.hacked=1">Loss fell.</p>
<img src="x" onerror="window.top.hacked=1"><a href="javascript:window.top.hacked=1">link</a><iframe src="https://example.com"></iframe>
<table><tr><td>cell</td></tr></table><svg viewBox="0 0 10 10" width="20"><rect width="10" height="10" fill="teal"/></svg></body></html>`;

async function seriesFiles(run: number): Promise<Record<string, Uint8Array<ArrayBuffer>>> {
  const files: Record<string, Uint8Array<ArrayBuffer>> = {};
  for (let step = 0; step < steps; step += 1) {
    const name = `images/val~samples+step+${step}+timestamp+17283700${step}+h1b2c3d4-${step}`;
    files[`${name}.png`] = await pictureOf(step + run * 40, 'png', 128);
    files[`${name}+compressed.webp`] = await pictureOf(step + run * 40, 'webp');
    files[`attention/epoch_${step}.png`] = await pictureOf(step * 2 + run);
  }
  return files;
}

beforeAll(async () => {
  service = await startConsole();
  project_id = await newProject(service.client, 'seen');
  for (let run = 0; run < 3; run += 1) {
    const experiment_id = await recordRun(service.client, project_id, {
      name: `run ${run}`,
      metrics: { loss: [1, 0.5] },
      status: run === 0 ? undefined : 'SUCCEEDED',
    });
    runs.push(experiment_id);
    await recordFiles(service.client, { project_id, experiment_id }, await seriesFiles(run));
  }
  await recordFiles(
    service.client,
    { project_id, experiment_id: runs[0] ?? '' },
    {
      'sound/step-1.wav': toneOf(330),
      'sound/step-2.wav': toneOf(440),
      'report.html': report,
      'report.pdf': '%PDF-1.4\n%%EOF\n',
      'tables/predictions.json': JSON.stringify({
        columns: ['text', 'label', 'score'],
        data: Array.from({ length: 300 }, (_, index) => [`sentence ${index}`, index % 3, (index * 37) % 101]),
      }),
      'tables/values.csv': `name;value\n${Array.from({ length: 1200 }, (_, index) => `"row; ${index}";${(index * 7919) % 1201}`).join('\n')}\n`,
      'tables/scores.parquet': parquetOf(5_000),
    },
  );
  page = await service.enter();
});
afterAll(() => service.close());

const place = (run: number, tail = '') => `projects/${project_id}/experiments/${runs[run]}${tail}`;
const shownSteps = (on: Page) => on.locator('.media-tile figcaption .number').allInnerTexts();
const shownPaths = (on: Page) =>
  on
    .locator('.media-tile img')
    .evaluateAll((all) => all.map((one) => (one as HTMLElement).dataset['path'] ?? ''));

describe('pictures over steps', () => {
  test('are reached with one click, and one slider moves all of them', async () => {
    await visit(page, place(0));
    const inputs = await countInputs(page);
    await page.getByRole('link', { name: 'Media' }).click();
    await expect.poll(() => page.locator('.media-tile img:not(.waiting)').count()).toBe(2);
    const slider = page.getByRole('slider', { name: 'Step', exact: true });
    const box = await slider.boundingBox();
    if (box === null) throw new Error('There is no slider.');
    await page.mouse.click(box.x + box.width * 0.5, box.y + box.height / 2);

    expect(await inputs()).toEqual({ clicks: 2, keys: 0 });
    await expect.poll(async () => new Set((await shownSteps(page)).slice(0, 2)).size).toBe(1);
    const [step] = await shownSteps(page);
    expect(Number(step?.split(' ')[1])).toBeGreaterThan(7);
    await expect
      .poll(() => shownPaths(page))
      .toEqual([
        expect.stringContaining(`epoch_${step?.split(' ')[1]}.png`),
        expect.stringContaining('+compressed.webp'),
      ]);
    expect(await axeFindings(page)).toEqual([]);
  });

  test('move with the arrow keys, and the address keeps the step', async () => {
    await visit(page, place(0, '?tab=media&step=3'));
    await page.locator('.media-tile img:not(.waiting)').first().waitFor();
    await expect.poll(async () => (await shownSteps(page))[0]).toBe('step 3');
    const slider = page.getByRole('slider', { name: 'Step', exact: true });
    await slider.focus();
    const inputs = await countInputs(page);
    for (let press = 0; press < 4; press += 1) await page.keyboard.press('ArrowRight');

    expect((await inputs()).keys).toBe(4);
    await expect.poll(() => page.evaluate(() => location.hash)).toContain('step=7');
    await page.reload();
    await expect.poll(async () => (await shownSteps(page))[0]).toBe('step 7');
  });

  test('keep a step that is chosen while the address takes the one before', async () => {
    await visit(page, place(0, '?tab=media&step=2'));
    const slider = page.getByRole('slider', { name: 'Step', exact: true });
    await slider.evaluate((input: HTMLInputElement) => {
      const choose = (index: number) => {
        input.value = String(index);
        input.dispatchEvent(new Event('input', { bubbles: true }));
      };
      const replace = history.replaceState;
      history.replaceState = (...given) => {
        history.replaceState = replace;
        replace.apply(history, given);
        choose(6);
      };
      choose(4);
    });
    await expect.poll(() => page.evaluate(() => location.hash)).toContain('step=6');
    await expect.poll(async () => (await shownSteps(page))[0]).toBe('step 6');
  });

  test('show the step of a link that is followed while the slider still moves', async () => {
    await visit(page, place(0, '?tab=media&step=2'));
    const slider = page.getByRole('slider', { name: 'Step', exact: true });
    await slider.evaluate((input: HTMLInputElement) => {
      const start = window.setTimeout;
      const late = (act: () => void) => () => {
        location.hash = location.hash.replace('step=2', 'step=1');
        act();
      };
      const first = (act: () => void, milliseconds?: number) => {
        if (milliseconds !== 300) return start(act, milliseconds);
        window.setTimeout = start;
        return start(late(act), milliseconds);
      };
      window.setTimeout = first as typeof start;
      input.value = '4';
      input.dispatchEvent(new Event('input', { bubbles: true }));
    });
    await expect.poll(async () => (await shownSteps(page))[0]).toBe('step 1');
    expect(await page.evaluate(() => location.hash)).toContain('step=1');
  });

  test('of several runs stand side by side, each with the name of its run', async () => {
    await visit(page, `projects/${project_id}/compare?experiments=${runs.join(',')}`);
    await page.getByRole('link', { name: 'Media' }).click();
    const group = page.getByRole('region', { name: 'val/samples' });
    await expect.poll(() => group.locator('img:not(.waiting)').count()).toBe(3);

    expect(await group.locator('figcaption bdi').allInnerTexts()).toEqual(['run 0', 'run 1', 'run 2']);
    expect(await axeFindings(page)).toEqual([]);
  });

  test('follow the slider beyond the screen, too, and so do sounds', async () => {
    await visit(page, `projects/${project_id}/compare?experiments=${runs.join(',')}&tab=media&size=l`);
    await page.locator('.media-tile img:not(.waiting)').first().waitFor();
    await page.getByRole('slider', { name: 'Step', exact: true }).focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowRight');
    const last = page.locator('.media-tile:not(.sound)').last();
    await last.scrollIntoViewIfNeeded();

    await expect.poll(() => last.locator('figcaption .number').innerText()).toBe('step 1');
    await expect.poll(() => last.locator('img:not(.waiting)').count()).toBe(1);
    await expect.poll(() => page.locator('.media-tile.sound figcaption .number').innerText()).toBe('step 1');
  });

  test('cost at most two requests a second while somebody slides', async () => {
    await visit(page, `projects/${project_id}`);
    // By the clock of the page, which also decides when to ask.
    await page.evaluate(() => {
      const requests: number[] = [];
      const { fetch } = window;
      window.fetch = (asked, ...more) => {
        const url = asked instanceof Request ? asked.url : String(asked);
        if (/artifacts\/read|\/media\?/.test(url)) requests.push(performance.now());
        return fetch(asked, ...more);
      };
      Object.assign(window, { requests });
    });
    await visit(page, `projects/${project_id}/compare?experiments=${runs.join(',')}&tab=media`);
    await page.locator('.media-tile img').first().waitFor();
    const slider = page.getByRole('slider', { name: 'Step', exact: true });
    await slider.focus();
    for (let press = 0; press < 3 * steps; press += 1)
      await page.keyboard.press(press % 40 < 20 ? 'ArrowLeft' : 'ArrowRight');
    await expect.poll(() => page.locator('.media-tile img.waiting').count()).toBe(0);

    const requests = await page.evaluate(() => (window as unknown as { requests: number[] }).requests);
    await page.reload();
    const reads = requests.slice(1);
    const gaps = reads.slice(1).map((time, index) => time - (reads[index] ?? 0));
    expect(Math.min(500, ...gaps)).toBeGreaterThan(440);
    // All pictures of three runs came with a handful of requests.
    expect(requests.length).toBeLessThan(8);
  });

  test('open in full size, and the arrow keys go through the steps there', async () => {
    await visit(page, place(0, '?tab=media&step=5'));
    await page.getByRole('button', { name: /Enlarge val\/samples/ }).click();
    const picture = page.locator('.lightbox img');
    await expect.poll(() => picture.evaluate((one: HTMLImageElement) => one.naturalWidth)).toBe(128);
    await page.locator('.lightbox').focus();
    await page.keyboard.press('ArrowRight');

    await page.getByRole('heading', { name: 'val/samples, step 6' }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.keyboard.press('Escape');
  });

  test('have sounds beside them, which play', async () => {
    await visit(page, place(0, '?tab=media'));
    await page.getByRole('button', { name: /Play sound/ }).click();

    await page.getByRole('button', { name: /Stop sound/ }).waitFor();
    await expect.poll(() => page.locator('.audio').innerText()).toMatch(/0:\d\d \/ 0:20/);
  });
});

test('histograms of any writer are drawn over steps, and another file of their folder is named', async () => {
  const own = await newProject(service.client, 'histograms');
  const run = await recordRun(service.client, own, { name: 'run', status: 'SUCCEEDED' });
  const files: Record<string, string> = { 'histograms/odd_step_1.json': '{"bins": [1], "values": "x"}' };
  for (let step = 0; step < 5; step += 1)
    files[`histograms/weights_step_${step}.json`] = JSON.stringify({ bins: [-1, 0, 1], values: [step, 9] });
  await recordFiles(service.client, { project_id: own, experiment_id: run }, files);
  await visit(page, `projects/${own}/experiments/${run}?tab=media`);
  await page.getByText('histograms/odd has no values, or is no histogram').waitFor();
  const drawn = page.getByRole('img', {
    name: /histograms\/weights: histograms of 5 steps, from −?-?1 to 1/,
  });
  const paint = () =>
    drawn.locator('canvas').evaluate((canvas: HTMLCanvasElement) => {
      const pixels = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data ?? [];
      return pixels.some((value) => value > 0);
    });
  await expect.poll(paint).toBe(true);
});

test('a run without pictures has no tab of media, and the way to log them beside its files', async () => {
  const { client } = service;
  const experiment_id = await recordRun(client, project_id, { name: 'numbers alone', status: 'SUCCEEDED' });
  const files = { 'weights.bin': 'x', 'epoch_10.json': '[[1, 2]]', 'epoch_2.json': '[[3, 4], [5, 6]]' };
  await recordFiles(client, { project_id, experiment_id }, files);
  await visit(page, `projects/${project_id}/experiments/${experiment_id}`);
  await page.getByRole('link', { name: 'Artifacts (3)' }).click();
  await page.getByRole('heading', { name: 'epoch_2.json' }).waitFor();
  const names = await page.locator('.file-list bdi').allInnerTexts();

  expect(names).toEqual(['epoch_2.json', 'epoch_10.json', 'weights.bin']);
  expect(await page.getByRole('link', { name: 'Media' }).count()).toBe(0);
  await page.getByRole('link', { name: 'How to log them' }).click();
  await page.getByRole('heading', { name: 'No pictures, sounds or histograms' }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
});

describe('files', () => {
  const open = async (file: string) => {
    await visit(page, place(0, `?tab=artifacts&file=${encodeURIComponent(file)}`));
    await settle(page);
  };
  const firstCells = (column: number) =>
    page.locator(`.table-file tbody tr:not(.spacer) td:nth-child(${column})`).allInnerTexts();

  test('stand in folders, of which the chosen one is open', async () => {
    await open('tables/values.csv');
    await page.getByRole('button', { name: /^tables/ }).waitFor();

    expect(await page.getByRole('button', { name: /^tables/ }).getAttribute('aria-expanded')).toBe('true');
    expect(await page.getByRole('button', { name: /^images/ }).getAttribute('aria-expanded')).toBe('false');
    await page.getByRole('button', { name: /^attention/ }).click();
    await page.getByRole('button', { name: /epoch_19\.png/ }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
  });

  test.each([
    ['tables/predictions.json', '300 rows', 'score', 3],
    ['tables/values.csv', '1,200 rows', 'value', 2],
    ['tables/scores.parquet', '5,000 rows', 'score', 3],
  ])('%s is a table that sorts by number', async (file, count, column, at) => {
    await open(file);
    await page.getByText(count).waitFor();
    await page.getByRole('columnheader', { name: column }).getByRole('button').click();

    await expect
      .poll(async () => {
        const numbers = (await firstCells(at)).slice(0, 8).map(Number);
        return (
          numbers.length > 5 &&
          numbers.every((value, index) => index === 0 || value >= (numbers[index - 1] ?? 0))
        );
      })
      .toBe(true);
    expect(await axeFindings(page)).toEqual([]);
  });

  test('an HTML report is shown with its styles, and nothing of it runs', async () => {
    await open('report.html');
    const frame = page.frameLocator('.html-view');
    await frame.getByRole('heading', { name: 'Report of run' }).waitFor();
    const colour = (name: string) =>
      frame
        .locator(name)
        .first()
        .evaluate((one) => getComputedStyle(one).color);

    expect([await colour('h1'), await colour('p')]).toEqual(['rgb(1, 2, 3)', 'rgb(4, 5, 6)']);
    expect(await frame.locator('script, iframe, [onclick], a[href]').count()).toBe(0);
    expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
    await page.getByText('2 scripts and embedded pages').waitFor();
  });

  test('a PDF opens in a tab of its own, at the storage', async () => {
    await open('report.pdf');
    const [tab, asked] = await Promise.all([
      page.context().waitForEvent('page'),
      page
        .context()
        .waitForEvent('request', (one) => one.isNavigationRequest() && one.url().includes('inline')),
      page.getByRole('button', { name: 'Show the PDF' }).click(),
    ]);

    expect(new URL(asked.url()).origin).not.toBe(service.url);
    await tab.close();
  });

  test('an event file of TensorBoard shows its curves, and its pictures and sounds among the media if it has any', async () => {
    const { client } = service;
    const made = async (name: string, bytes: Uint8Array<ArrayBuffer>) => {
      const experiment_id = await recordRun(client, project_id, { name, status: 'SUCCEEDED' });
      await recordFiles(client, { project_id, experiment_id }, { 'tb/events.out.tfevents.1.host': bytes });
      return `projects/${project_id}/experiments/${experiment_id}`;
    };
    const plain = await made('curves only', await eventsOf(3, { hasMedia: false }));
    const rich = await made('with media', await eventsOf(3));
    await visit(page, plain);
    await page.getByRole('link', { name: 'Artifacts' }).waitFor();

    await visit(page, `${rich}?tab=artifacts&file=tb/events.out.tfevents.1.host`);
    await page.locator('.chart canvas').nth(1).waitFor();
    const names = await page.locator('.chart figcaption strong').allInnerTexts();
    expect(names).toEqual(['loss/train', 'accuracy']);
    expect(await page.getByRole('img', { name: 'samples at step 2' }).count()).toBe(1);
    await page.getByRole('link', { name: 'Media' }).click();
    const part = page.getByRole('region', { name: 'TensorBoard', exact: true });
    await part.getByRole('img', { name: 'samples at step 2' }).waitFor();
    await part.getByRole('button', { name: 'Play voice step 2' }).click();
    await part.getByText(/^0:\d\d \/ 0:20$/).waitFor();
    expect(await part.locator('.chart canvas').count()).toBe(0);
    expect(await axeFindings(page)).toEqual([]);

    await visit(page, plain);
    await page.getByRole('link', { name: 'Artifacts' }).waitFor();
    await settle(page);
    expect(await page.getByRole('link', { name: 'Media' }).count()).toBe(0);
  });

  test('are all saved as one zip', async () => {
    await open('report.html');
    // A browser without a dialog for files collects the zip.
    await page.evaluate(() => Object.assign(window, { showSaveFilePicker: undefined }));
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download all' }).click(),
    ]);
    const zip = await readFile(await download.path());

    expect(download.suggestedFilename()).toBe('run 0.zip');
    expect(zip.includes('report.html') && zip.includes('Loss fell.')).toBe(true);
    expect(zip.readUInt16LE(zip.length - 12)).toBe(3 * steps + 7);
  });
});

test('nothing of it made a script fail or broke the policy of the page', () => {
  expect(service.faults).toEqual([]);
});
