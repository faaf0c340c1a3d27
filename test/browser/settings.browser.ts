import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { endpoint as readProjectBudget } from '../../functions/projects/budget/read-project-budget.endpoint.ts';
import type { endpoint as listVariables } from '../../functions/projects/variables/list-variables.endpoint.ts';
import type { endpoint as createUser } from '../../functions/users/create-user.endpoint.ts';
import { axeFindings } from './axe.ts';
import { type ConsoleService, settle, signIn, startConsole, visit } from './console-service.ts';
import { countInputs } from './count-inputs.ts';
import { keyboard } from './hands.ts';
import { newProject } from './record-run.ts';

let service: ConsoleService;
let page: Page;
let project_id: string;
const password = 'a long sentence for them all';

beforeAll(async () => {
  service = await startConsole();
  project_id = await newProject(service.client, 'settled');
  for (const [username, account_type] of [
    ['vera', 'viewer'],
    ['mia', 'developer'],
  ] as const)
    await service.client.call<typeof createUser>('POST /users/', {
      fields: { username, account_type },
      body: { password },
    });
  page = await service.enter();
});
afterAll(() => service.close());

const variables = () =>
  service.client.call<typeof listVariables>('GET /projects/{project_id}/variables', { path: { project_id } });

describe('a secret', () => {
  test('takes three clicks from the page of the project, and is never shown', async () => {
    await visit(page, `projects/${project_id}`);
    const inputs = await countInputs(page);
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByLabel('Name of the variable').click();
    await page.keyboard.insertText('HF_TOKEN');
    await page.keyboard.press('Tab');
    await page.keyboard.insertText('a value nobody else reads');
    await page.getByRole('button', { name: 'Save the secret' }).click();

    expect(await inputs()).toEqual({ clicks: 3, keys: 1 });
    await page.getByRole('row', { name: /HF_TOKEN secret/ }).waitFor();
    expect(await variables()).toMatchObject([{ name: 'HF_TOKEN', secret: true, value: null }]);
    expect(await page.content()).not.toContain('a value nobody else reads');
    expect(await axeFindings(page)).toEqual([]);
  });

  test('is saved by keyboard, and a variable that is none shows its value', async () => {
    const hands = keyboard(page);
    await visit(page, `projects/${project_id}/settings`);
    await hands.press(page.getByLabel('Secret'));
    await hands.write(page.getByLabel('Name of the variable'), 'EPOCHS');
    await page.keyboard.press('Tab');
    await page.keyboard.insertText('12');
    await page.keyboard.press('Enter');

    await page.getByRole('row', { name: /EPOCHS 12/ }).waitFor();
    expect(await variables()).toContainEqual(
      expect.objectContaining({ name: 'EPOCHS', secret: false, value: '12' }),
    );
  });

  test('that the service refuses says why, and keeps what was typed', async () => {
    await visit(page, 'projects');
    await visit(page, `projects/${project_id}/settings`);
    await page.getByLabel('Name of the variable').fill('PATH');
    await page.getByLabel('Value').fill('x');
    await page.keyboard.press('Enter');

    await page.getByRole('alert').getByText('reserved').waitFor();
    expect(await page.getByLabel('Name of the variable').inputValue()).toBe('PATH');
  });

  test('is a name to a viewer, who is offered nothing to change', async () => {
    const other = await service.open();
    await signIn(other, { username: 'vera', password });
    await visit(other, `projects/${project_id}/settings`);
    await other.getByRole('row', { name: /HF_TOKEN secret/ }).waitFor();

    // The names of the parts lead to them, and change nothing.
    expect(await other.locator('main :is(button, input, select):not(nav *)').count()).toBe(0);
    await other.context().close();
  });
});

test('the list of parts marks the one that is read', async () => {
  await visit(page, 'projects');
  await visit(page, `projects/${project_id}/settings`);
  const marked = () =>
    page.getByRole('navigation', { name: 'Settings' }).locator('[aria-current]').innerText();
  await expect.poll(marked).toBe('About');
  await page.getByRole('navigation', { name: 'Settings' }).getByRole('button', { name: 'Hooks' }).click();
  await expect.poll(marked).toBe('Hooks');
  await page.mouse.move(640, 400);
  await page.mouse.wheel(0, -10_000);
  await expect.poll(marked).toBe('About');

  expect(await axeFindings(page)).toEqual([]);
});

test('a project is shared with a user of a list', async () => {
  await visit(page, 'projects');
  await visit(page, `projects/${project_id}/settings`);
  const users = page.getByLabel('User');
  await expect
    .poll(() => users.locator('option').allInnerTexts())
    .toEqual(['Choose a user', 'mia (developer)', 'vera (viewer)']);
  await users.selectOption('mia');
  await page.getByRole('button', { name: 'Share' }).click();

  await page.getByRole('row', { name: /mia developer/ }).waitFor();
  await expect.poll(() => users.locator('option').allInnerTexts()).not.toContain('mia (developer)');
});

test('the budget of a project is set by two clicks, and removed', async () => {
  await visit(page, 'projects');
  await visit(page, `projects/${project_id}/settings`);
  const inputs = await countInputs(page);
  const panel = page.locator('section', { has: page.getByRole('heading', { name: 'Budget' }) });
  await panel.getByLabel('Budget a month').click();
  await page.keyboard.insertText('25');
  await panel.getByRole('button', { name: 'Save the budget' }).click();
  await panel.getByText('$25.00 a month').waitFor();
  const { clicks } = await inputs();
  const read = () =>
    service.client.call<typeof readProjectBudget>('GET /projects/{project_id}/budget', {
      path: { project_id },
    });
  expect({ clicks, amount: (await read()).amount }).toEqual({ clicks: 2, amount: 25 });

  await panel.getByLabel('Budget a month').fill('-1');
  await panel.getByRole('button', { name: 'Save the budget' }).click();
  await panel.getByRole('alert').waitFor();
  await panel.getByLabel('Budget a month').fill('');
  await panel.getByRole('button', { name: 'Save the budget' }).click();
  await panel.getByText('none', { exact: true }).waitFor();
  expect((await read()).amount).toBeNull();
  expect(await axeFindings(page)).toEqual([]);
});

test('an admin sets the budget of a user, and a viewer reads that of a project', async () => {
  await visit(page, 'users');
  await page.getByRole('row').filter({ hasText: 'mia' }).getByRole('button', { name: 'Budget' }).click();
  await page.getByLabel('Budget a month').fill('7.5');
  await page.getByRole('button', { name: 'Save the budget' }).click();
  await page.getByText('$7.50 a month').waitFor();
  await page.getByRole('button', { name: 'Close' }).click();

  const other = await service.open();
  await signIn(other, { username: 'vera', password });
  await visit(other, `projects/${project_id}/settings`);
  await other.getByRole('heading', { name: 'Budget' }).waitFor();
  expect(await other.getByRole('button', { name: 'Save the budget' }).count()).toBe(0);
  await other.context().close();
});

test('the theme is chosen with one click, in every tab, and kept', async () => {
  const background = (on: Page) => on.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await visit(page, 'account');
  const tab = await page.context().newPage();
  await tab.goto(`${service.url}/console#/account`);
  await tab.locator('.shell').waitFor();
  const light = await background(page);
  await page.getByRole('button', { name: 'Dark', exact: true }).click();

  await expect.poll(() => background(page)).not.toBe(light);
  const dark = await background(page);
  await expect.poll(() => background(tab)).toBe(dark);
  expect(await axeFindings(page)).toEqual([]);
  await page.reload();
  await settle(page);
  await expect.poll(() => background(page)).toBe(dark);
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.getByRole('button', { name: 'Light', exact: true }).click();
  await expect.poll(() => background(page)).toBe(light);
  await page.getByRole('button', { name: 'System', exact: true }).click();
  await expect.poll(() => background(page)).toBe(dark);
  await page.emulateMedia({ colorScheme: 'light' });
});

test('a page of somebody who wants less motion has the colours of another theme at once', async () => {
  await visit(page, 'account');
  await page.evaluate(() => {
    const run: string[] = [];
    Object.assign(window, { run });
    document.addEventListener('transitionrun', ({ propertyName }) => run.push(propertyName));
  });
  await page.emulateMedia({ colorScheme: 'dark' });
  await settle(page);
  const run = await page.evaluate(() => (window as unknown as { run: string[] }).run);
  await page.emulateMedia({ colorScheme: 'light' });

  expect(run).toEqual([]);
});

test.each([
  ['', 'Home'],
  ['projects', 'Projects'],
  ['account', 'Account'],
  ['models', 'Models'],
  ['users', 'Users'],
])('the page %s names itself, and its heading has the focus after navigation', async (place, title) => {
  await visit(page, place === '' ? 'projects' : '');
  await visit(page, place);

  await expect.poll(() => page.title()).toBe(`${title} · Model Project Service`);
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe(title);
});

test('nothing of it made a script fail or broke the policy of the page', () => {
  expect(service.faults).toEqual([]);
});
