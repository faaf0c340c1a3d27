import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { endpoint as updateProject } from '../../functions/projects/projects/update-project.endpoint.ts';
import { type ConsoleService, settle, startConsole, visit } from './console-service.ts';
import { countInputs } from './count-inputs.ts';
import { countedHands } from './counted-hands.ts';
import { pictureOf } from './media-files.ts';
import { recordFiles } from './record-files.ts';
import { newProject, recordRun } from './record-run.ts';

// What a person does every day, in few clicks or keys. Texts that are typed are not counted, except for choosing.
let service: ConsoleService;
let page: Page;
let project_id: string;
const ids: string[] = [];
const count = 30;
const steps = 20;

beforeAll(async () => {
  service = await startConsole();
  page = await service.enter({ width: 1440 });
  project_id = await newProject(service.client, 'every day', 'protein-folding');
  await service.client.call<typeof updateProject>('PATCH /projects/{project_id}', {
    path: { project_id },
    body: { criterion: 'val/loss', criterion_goal: 'minimize' },
    headers: { 'If-Match': '*' },
  });
  for (let run = 0; run < count; run += 1)
    ids.push(
      await recordRun(service.client, project_id, {
        name: `run ${run}`,
        params: { half: String(run < 20) },
        metrics: { 'val/loss': [1, ((run * 7 + 4) % count) / count + 0.1], epoch: [0, 1] },
        status: 'SUCCEEDED',
      }),
    );
  const files: Record<string, Uint8Array<ArrayBuffer>> = {};
  for (let step = 0; step < steps; step += 1)
    files[`attention/epoch_${step}.png`] = await pictureOf(step * 2);
  await recordFiles(service.client, { project_id, experiment_id: ids[0] ?? '' }, files);
  await recordFiles(
    service.client,
    { project_id, experiment_id: ids[1] ?? '' },
    {
      'predictions.json': JSON.stringify({ columns: ['text', 'score'], data: [['a sentence', 0.5]] }),
      'report.html': '<!doctype html><h1>Report of run</h1>',
    },
  );
});
afterAll(() => service.close());

/** The place must be another one than the present, so that nothing of the test before is left. */
const open = async (place: string): Promise<() => Promise<{ clicks: number; keys: number }>> => {
  await visit(page, 'account');
  await page.getByRole('heading', { name: 'Account', exact: true }).waitFor();
  await visit(page, `projects/${project_id}${place}`);
  await page.locator('main nav.tabs a').first().waitFor();
  await settle(page);
  return countInputs(page);
};
const openTable = async (query = '', matching = count) => {
  const inputs = await open(query);
  await page
    .getByText(new RegExp(`^${matching} (?:of ${count} )?experiments`))
    .first()
    .waitFor();
  return inputs;
};
const press = async (...keys: string[]): Promise<void> => {
  for (const key of keys) await page.keyboard.press(key);
};
/** Press a key that moves the focus to a row. */
const moveTo = async (index: number, key: string): Promise<void> => {
  await page.keyboard.press(key);
  await expect
    .poll(() =>
      page.evaluate(() => document.activeElement?.closest<HTMLElement>('[data-index]')?.dataset['index']),
    )
    .toBe(String(index));
};
/** The digit that opens a part of the page. */
const digitOf = async (name: string): Promise<string> => {
  const tabs = page.locator('main nav.tabs a');
  // The tab of media appears once its files are found.
  await tabs.filter({ hasText: name }).first().waitFor();
  const names = await tabs.allInnerTexts();
  return String(names.findIndex((text) => text.startsWith(name)) + 1);
};
const button = (name: string) => page.getByRole('button', { name, exact: true });
const names = (): Promise<string[]> => page.locator('.row.body .cell.name').allInnerTexts();
const chosen = () => page.locator('.chosen-bar strong').innerText();
const shown = () => page.locator('.table-note').first().innerText();

describe('the best by val/loss', () => {
  test.each([
    [
      'one click',
      { clicks: 1, keys: 0 },
      () => page.getByRole('columnheader', { name: /Best/ }).getByRole('button').click(),
    ],
    ['one key', { clicks: 0, keys: 1 }, () => press('b')],
  ])('is %s away', async (_, bound, act) => {
    const inputs = await openTable();
    await act();
    await expect.poll(async () => (await names())[0]).toContain('run 8');
    expect(await inputs()).toEqual(bound);
  });
});

describe('the best by the last val/loss', () => {
  test.each([
    [
      'one click',
      { clicks: 1, keys: 0 },
      () =>
        page
          .getByRole('columnheader', { name: /val\/loss$/ })
          .last()
          .getByRole('button')
          .click(),
    ],
    [
      'two keys and the words',
      { clicks: 0, keys: 2 },
      async () => {
        await press('Control+k');
        await page.getByRole('combobox', { name: /Search projects/ }).waitFor();
        await page.keyboard.insertText('val/loss, last');
        await press('Enter');
      },
    ],
  ])('is %s away', async (_, bound, act) => {
    const inputs = await openTable();
    await act();
    await expect.poll(async () => (await names())[0]).toContain('run 8');
    const { clicks, keys } = await inputs();
    // Control is a press of its own.
    expect({ clicks, keys: keys - (keys > 0 ? 1 : 0) }).toEqual(bound);
  });
});

describe('five curves', () => {
  const settings = () => {
    const { searchParams } = new URL(page.url().replace('#/', ''));
    return Object.fromEntries(['panel', 'x', 'log', 'smooth'].map((name) => [name, searchParams.get(name)]));
  };
  const wanted = { panel: 'curves', x: 'relative', log: 'y', smooth: '0.6' };
  const part = /\/console\/.*\.js/;

  test('are smooth over relative time on a logarithmic axis after four keys and a number', async () => {
    await openTable();
    const hands = countedHands(page);
    // As fast as somebody types who knows the keys, before the part of the page with the curves has loaded.
    const loading = Promise.withResolvers<void>();
    await page.route(part, async (route) => {
      await loading.promise;
      await route.continue();
    });
    await hands.press('v', 't', 'l', 's', '6', '0');
    loading.resolve();
    await expect.poll(settings).toEqual(wanted);
    await page.unroute(part);
    await expect.poll(() => page.locator('.row.body .drawn-mark').count()).toBe(5);
    expect(hands).toMatchObject({ clicks: 0, keys: 6 });
  });

  test('have the settings of keys in their order, if the page is drawn before it listens', async () => {
    await openTable();
    await page.evaluate(async () => {
      const { replaceState } = history;
      const set: string[] = [];
      history.replaceState = (...change) => {
        replaceState.apply(history, change);
        for (const name of new URLSearchParams(location.hash.replace(/.*\?/, '')).keys())
          if (!set.includes(name)) set.push(name);
      };
      Object.assign(window, { set });
      const pressKey = (key: string) =>
        (document.activeElement ?? document.body).dispatchEvent(
          new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }),
        );
      pressKey('v');
      // Components are drawn in microtasks. They listen after the next frame.
      for (let turn = 0; turn < 50; turn += 1) await undefined;
      for (const key of ['t', 'l', 's']) pressKey(key);
    });
    await press('6', '0');
    await expect.poll(settings).toEqual(wanted);
    const set = await page.evaluate(() => (window as unknown as { set: string[] }).set);
    expect(set).toEqual(['panel', 'x', 'log', 'smooth']);
  });
});

test('a link that somebody shares opens in another tab without a password', async () => {
  await open(`?filter=${encodeURIComponent("params.half = 'true'")}&sort=best`);
  const other = await page.context().newPage();
  await other.goto(page.url());
  await expect.poll(() => other.locator('.table-note').first().innerText()).toContain('20 of 30 experiments');
  expect(await other.locator('.sign-in').count()).toBe(0);
  await other.close();
});

describe('a view of what is shown', () => {
  test.each([
    ['one click and one key', { clicks: 1, keys: 1 }, () => button('Add a view of what is shown').click()],
    [
      'four keys',
      { clicks: 0, keys: 4 },
      async () => {
        await press('Control+k');
        await page.getByRole('combobox', { name: /Search projects/ }).waitFor();
        await page.keyboard.insertText('add a view');
        await press('Enter');
      },
    ],
  ])('is saved for everybody with %s', async (how, bound, act) => {
    const inputs = await openTable('?filter=run', count);
    await act();
    await page.getByLabel('Name', { exact: true }).waitFor();
    await page.keyboard.insertText(how);
    await press('Enter');
    await page.getByRole('link', { name: how }).waitFor();
    expect(await inputs()).toEqual(bound);
  });
});

test('a search needs one key and words, with no list over the rows that it finds', async () => {
  const inputs = await openTable();
  await press('/');
  await page.keyboard.insertText('val/loss < 0.2');
  await expect.poll(shown).toMatch(/^3 of 30 experiments/);
  await expect.poll(() => page.getByRole('listbox', { name: 'Completions' }).isVisible()).toBe(false);
  expect(await inputs()).toEqual({ clicks: 0, keys: 1 });
});

describe('twenty rows', () => {
  const chooseTwenty = async () => {
    await moveTo(0, 'j');
    await press('x');
    await moveTo(12, 'PageDown');
    for (let row = 13; row < 20; row += 1) await moveTo(row, 'j');
    await press('Shift+X');
    await expect.poll(chosen).toBe('20 chosen');
  };

  test('are tagged with fifteen keys and the texts', async () => {
    const inputs = await openTable();
    await chooseTwenty();
    await press('g');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.insertText('stage');
    await press('Tab');
    await page.keyboard.insertText('final');
    await press('Enter');
    await page.getByText('20 experiments tagged.').waitFor();
    expect(await inputs()).toEqual({ clicks: 0, keys: 15 });
  });

  test('are deleted with thirteen keys, and come back with one', async () => {
    const inputs = await openTable();
    const before = await names();
    await chooseTwenty();
    await press('d');
    await expect.poll(shown).toContain('10 experiments');
    await button('Undo').waitFor();
    expect(await inputs()).toEqual({ clicks: 0, keys: 13 });
    await press('u');
    await expect.poll(shown).toContain(`${count} experiments`);
    expect(await inputs()).toEqual({ clicks: 0, keys: 14 });
    await expect.poll(names).toEqual(before);
  });

  test('the bar of chosen rows covers none of them, is one line at 1280, and has the message above it', async () => {
    await page.setViewportSize({ width: 1280, height: 800 });
    await openTable();
    await moveTo(0, 'j');
    await press('x', 'g');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.insertText('seen');
    await press('Enter');
    // Measured while the message is there, which is for a few seconds.
    const measured = await page.waitForFunction(() => {
      const parts = ['.table', '.chosen-bar', '.notice'].map((one) => document.querySelector(one));
      if (!parts.at(-1)?.textContent.includes('1 experiment tagged.')) return null;
      return parts.map((part) => part?.getBoundingClientRect().toJSON() as DOMRect | undefined);
    });
    const [table, bar, notice] = (await measured.jsonValue()) ?? [];
    expect(table?.bottom).toBeLessThanOrEqual(bar?.top ?? 0);
    expect(notice?.bottom).toBeLessThanOrEqual(bar?.top ?? 0);
    expect(bar?.height).toBeLessThan(64);
    await page.setViewportSize({ width: 1440, height: 800 });
  });

  test('that a filter or a view shows are deleted with two', async () => {
    const inputs = await openTable('?filter=params.half%20%3D%20%27true%27', 20);
    await press('a');
    await expect.poll(chosen).toBe('20 chosen');
    await press('d');
    await button('Undo').waitFor();
    expect(await inputs()).toEqual({ clicks: 0, keys: 2 });
    await press('u');
    await expect.poll(shown).toContain(`20 of ${count} experiments`);
  });
});

test('the horizontal axis of curves is the epoch after two keys', async () => {
  const inputs = await open(`/compare?experiments=${ids.slice(0, 3).join()}&tab=curves`);
  await page.locator('.plot canvas').first().waitFor();
  await press('m', 'e');
  await expect.poll(() => page.url()).toContain('x=metrics.epoch');
  expect(await inputs()).toEqual({ clicks: 0, keys: 2 });
});

test('pictures of twenty steps are passed with three keys', async () => {
  const inputs = await open(`/experiments/${ids[0]}`);
  await press(await digitOf('Media'));
  await page.locator('.media-tile img:not(.waiting)').first().waitFor();
  await press('s', 'End');
  await expect.poll(() => page.locator('.media-tile figcaption .number').first().innerText()).toBe('step 19');
  expect(await inputs()).toEqual({ clicks: 0, keys: 3 });
});

test('a secret takes four keys and the texts', async () => {
  const inputs = await open('');
  await press(await digitOf('Settings'));
  await page.getByLabel('Name of the variable').waitFor();
  await press('n');
  await page.keyboard.insertText('HF_TOKEN');
  await press('Tab');
  await page.keyboard.insertText('a value nobody else reads');
  await press('Enter');
  await page.getByRole('row', { name: /HF_TOKEN secret/ }).waitFor();
  expect(await inputs()).toEqual({ clicks: 0, keys: 4 });
});

describe('a file that a program left', () => {
  const isReport = () =>
    page.frameLocator('.html-view').getByRole('heading', { name: 'Report of run' }).waitFor();
  const isTable = () => page.locator('.table-file').getByText('a sentence').waitFor();

  test.each([
    ['an HTML report', 'report.html', 4, isReport, '<h1>Report of run</h1>'],
    ['a logged table', 'predictions.json', 3, isTable, '"a sentence"'],
  ] as const)(
    '%s is shown after two clicks or few keys, and its source after one more click',
    async (_, file, keys, isShown, source) => {
      const byMouse = await open(`/experiments/${ids[1]}`);
      await page.getByRole('link', { name: /^Artifacts/ }).click();
      await page.locator('main').getByRole('button', { name: file }).click();
      await isShown();
      expect(await byMouse()).toEqual({ clicks: 2, keys: 0 });
      await button('Source').click();
      await page.locator('pre.text').getByText(source).waitFor();
      expect(await byMouse()).toEqual({ clicks: 3, keys: 0 });
      const byKeyboard = await open(`/experiments/${ids[1]}`);
      await press(await digitOf('Artifacts'));
      await page.locator('main').getByRole('button', { name: file }).waitFor();
      await press(...Array.from({ length: keys - 2 }, () => 'j'), 'Enter');
      await isShown();
      expect(await byKeyboard()).toEqual({ clicks: 0, keys });
    },
  );
});

test('the first row is two keys away', async () => {
  const inputs = await openTable();
  await moveTo(0, 'j');
  await press('Enter');
  await page.waitForURL(/experiments\/\w{26}/);
  expect(await inputs()).toEqual({ clicks: 0, keys: 2 });
});

test('the next run and the one before it are a key away, in the order of the table', async () => {
  const inputs = await openTable('?sort=best');
  const title = () => page.locator('h1').innerText();
  await page.locator('[data-index="0"] a').click();
  await expect.poll(title).toBe('run 8');
  await page.getByRole('link', { name: 'Overview' }).waitFor();
  await press(']');
  await expect.poll(title).not.toBe('run 8');
  await press('[');
  await expect.poll(title).toBe('run 8');
  expect(await inputs()).toEqual({ clicks: 1, keys: 2 });
});

test('the first row is one click away', async () => {
  const inputs = await openTable();
  await page.locator('[data-index="0"] a').click();
  await page.waitForURL(/experiments\/\w{26}/);
  expect(await inputs()).toEqual({ clicks: 1, keys: 0 });
});

test('no script failed, and none broke the policy of the page', () => {
  expect(service.faults).toEqual([]);
});
