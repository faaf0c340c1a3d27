import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { endpoint as readProject } from '../../functions/projects/projects/read-project.endpoint.ts';
import type { endpoint as createUser } from '../../functions/users/create-user.endpoint.ts';
import { axeFindings } from './axe.ts';
import { type ConsoleService, settle, signIn, startConsole, visit } from './console-service.ts';
import { countedHands } from './counted-hands.ts';
import { newProject, recordRun } from './record-run.ts';

let service: ConsoleService;
let page: Page;
let project_id: string;
const vera = { username: 'vera', password: 'a long sentence for vera' };

beforeAll(async () => {
  service = await startConsole();
  page = await service.enter({ width: 1440 });
  project_id = await newProject(service.client, 'with views');
  for (const [name, accuracy, loss] of [
    ['first', 0.5, 0.8],
    ['second', 0.75, 0.4],
    ['third', 0.7, 0.5],
    ['fourth', 0.2, 0.9],
  ] as const)
    await recordRun(service.client, project_id, {
      name,
      params: { lr: String(loss) },
      metrics: { accuracy: [accuracy / 2, accuracy], loss: [1, loss] },
      status: 'SUCCEEDED',
    });
  await service.client.call<typeof createUser>('POST /users/', {
    fields: { username: vera.username, account_type: 'viewer' },
    body: { password: vera.password },
  });
});
afterAll(() => service.close());

const names = (on = page): Promise<string[]> => on.locator('.row.body .cell.name a').allInnerTexts();
const tab = (name: string | RegExp, on = page) =>
  on.getByRole('navigation', { name: 'Views' }).getByRole('link', { name });
const button = (name: string | RegExp, on = page) => on.getByRole('button', { name, exact: true });
const cell = async (row: string, head: RegExp): Promise<string> => {
  const heads = await page.getByRole('columnheader').allInnerTexts();
  const at = heads.findIndex((text) => head.test(text.replaceAll(/\s+/g, ' ')));
  return page.locator('.row.body', { hasText: row }).locator('.cell').nth(at).innerText();
};
const stored = async () => {
  const project = await service.client.call<typeof readProject>('GET /projects/{project_id}', {
    path: { project_id },
  });
  return 'views' in project ? { views: project.views, baseline: project.baseline } : undefined;
};

describe('views', () => {
  test('are saved with one click and a name, opened with one click, and seen by everybody', async () => {
    await visit(page, `projects/${project_id}?filter=accuracy%20%3E%200.4&sort=best`);
    const hands = countedHands(page);
    await hands.click(button('Add a view of what is shown'));
    await page.getByLabel('Name', { exact: true }).fill('Good ones');
    expect(await axeFindings(page)).toEqual([]);
    await hands.press('Enter');
    await tab('Good ones').waitFor();
    expect([hands.clicks, hands.keys]).toEqual([1, 1]);
    await tab('All').click();
    await expect.poll(() => names()).toEqual(['fourth', 'third', 'second', 'first']);

    await hands.click(tab('Good ones'));
    await expect.poll(() => names()).toEqual(['second', 'third', 'first']);
    expect(hands.clicks).toBe(2);
    expect(await axeFindings(page)).toEqual([]);

    const other = await service.open();
    await signIn(other, vera);
    await visit(other, `projects/${project_id}`);
    await tab('Good ones', other).click();
    await expect.poll(() => names(other)).toEqual(['second', 'third', 'first']);
    expect(await other.getByRole('button', { name: /^Settings of/ }).count()).toBe(0);
    await button('Add a view of what is shown', other).click();
    expect(await other.getByText('Everybody who sees the project').count()).toBe(0);
    await other.getByLabel('Name', { exact: true }).fill('of vera');
    await other.keyboard.press('Enter');
    await tab('of vera', other).waitFor();
    await other.context().close();
    expect((await stored())?.views.map(({ name }) => name)).toEqual(['Good ones']);
  });

  test('are updated by one click, renamed, made private, and removed until Undo', async () => {
    await visit(page, `projects/${project_id}`);
    await tab('Good ones').click();
    await page.getByLabel('Filter').fill('accuracy > 0.6');
    await tab(/Good ones · changed/).waitFor();
    await button('Update').click();
    await page.getByText('Saved.').waitFor();
    await tab('All').click();
    await tab('Good ones').click();
    await expect.poll(() => names()).toEqual(['second', 'third']);
    await button('Settings of Good ones').click();
    await page.getByLabel('Name', { exact: true }).fill('Mine');
    await page.getByText('Only me, in this browser').click();
    await button('Apply').click();
    await expect.poll(() => tab('Mine').getAttribute('aria-current')).toBe('page');
    await expect.poll(stored).toMatchObject({ views: [] });
    await page.reload();
    await expect.poll(() => names()).toEqual(['second', 'third']);
    await button('Settings of Mine').click();
    await button('Remove the view').click();
    await expect.poll(() => tab('Mine').count()).toBe(0);
    await button('Undo').click();
    await tab('Mine').waitFor();
  });
});

describe('pins', () => {
  test('keep a row at the top in any order, after two keys or a click', async () => {
    await visit(page, `projects/${project_id}`);
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    const hands = countedHands(page);
    await hands.press('j', 'p');
    await page.getByRole('columnheader', { name: /Best/ }).getByRole('button').click();
    await expect.poll(() => names()).toEqual(['fourth', 'second', 'third', 'first']);
    expect(hands.keys).toBe(2);
    await page.locator('.row.body', { hasText: 'first' }).hover();
    await hands.click(button('Pin first'));
    await expect.poll(() => names()).toEqual(['first', 'fourth', 'second', 'third']);
    expect(hands.clicks).toBe(1);
    await page.reload();
    await expect.poll(() => names()).toEqual(['first', 'fourth', 'second', 'third']);
    await button('Pin fourth').click();
    await button('Pin first').click();
    await expect.poll(() => names()).toEqual(['second', 'third', 'first', 'fourth']);
  });
});

describe('a baseline', () => {
  test('is set by two clicks, and shows differences in the table, the curves and the comparison', async () => {
    await visit(page, `projects/${project_id}?sort=best`);
    await expect.poll(() => names()).toEqual(['second', 'third', 'first', 'fourth']);
    const hands = countedHands(page);
    await hands.click(page.getByLabel('Choose third'));
    await hands.click(button('Baseline'));
    await expect.poll(() => names()).toEqual(['third', 'second', 'first', 'fourth']);
    expect(hands.clicks).toBe(2);
    await expect.poll(() => cell('second', /Best/)).toMatch(/^0\.75\s+\+0\.05$/);
    await expect.poll(() => cell('second', /loss/)).toMatch(/^0\.4\s+−0\.1$/);
    expect(await cell('third', /Best/)).toBe('0.7');
    expect(await page.locator('.row.body', { hasText: 'second' }).locator('.better').count()).toBeGreaterThan(
      1,
    );
    expect(await page.locator('.row.body', { hasText: 'fourth' }).locator('.worse').count()).toBeGreaterThan(
      1,
    );
    expect(await axeFindings(page)).toEqual([]);
    expect((await stored())?.baseline).toMatch(/^\w{26}$/);

    await button('Clear the choice').click();
    await button('Curves').click();
    await button('Draw third').waitFor();
    await expect
      .poll(() => page.locator('.row.body', { hasText: 'third' }).innerText())
      .toContain('baseline');
    await expect.poll(() => cell('second', /Best/)).toMatch(/^0\.75\s+\+0\.05$/);

    await page.getByLabel('Choose first').click();
    await page.getByLabel('Choose third').click();
    await page.getByRole('link', { name: 'Compare' }).click();
    const table = page.getByRole('group', { name: 'Differences' });
    await expect.poll(() => table.innerText()).toMatch(/accuracy\s+0\.7\s+0\.5\s*−0\.2/);
    await button('Baseline first').click();
    await expect.poll(() => table.innerText()).toMatch(/accuracy\s+0\.7\s*\+0\.2\s+0\.5/);
    expect(await axeFindings(page)).toEqual([]);
  });

  test('of a viewer is in the address alone, and Undo takes it back for everybody', async () => {
    const other = await service.open();
    await signIn(other, vera);
    await visit(other, `projects/${project_id}`);
    await other.locator('.row-note').waitFor();
    await other.getByLabel('Choose first').click();
    await button('Baseline', other).click();
    await expect.poll(async () => (await names(other))[0]).toBe('first');
    await other.context().close();
    await visit(page, `projects/${project_id}`);
    await settle(page);
    expect((await names())[0]).toBe('third');
    await page.getByLabel('Choose third').click();
    await button('No baseline').click();
    await expect.poll(() => names()).toEqual(['fourth', 'third', 'second', 'first']);
    await button('Undo').last().click();
    await expect.poll(async () => (await names())[0]).toBe('third');
  });
});

test('no script failed, and none broke the policy of the page', () => {
  expect(service.faults).toEqual([]);
});
