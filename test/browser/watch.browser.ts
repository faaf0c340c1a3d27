import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axeFindings } from './axe.ts';
import { type ConsoleService, settle, startConsole, visit } from './console-service.ts';
import { endRun, newProject, recordRun } from './record-run.ts';

const shots = join(import.meta.dirname, '../../.build/screenshots');

let service: ConsoleService;
let project_id: string;

beforeAll(async () => {
  await mkdir(shots, { recursive: true });
  service = await startConsole();
  project_id = await newProject(service.client, 'watched');
});
afterAll(() => service.close());

/** What the page does with notifications, in place of a browser without a screen. */
interface Stub {
  permission: NotificationPermission;
  answer: NotificationPermission;
  asked: number;
  shown: { title: string; body: string; click: () => void }[];
}
declare global {
  interface Window {
    stub: Stub;
  }
}

/** A window whose browser would answer so when asked for the permission. */
async function windowWith(answer: NotificationPermission): Promise<Page> {
  const page = await service.enter();
  await page.addInitScript((given) => {
    const stub: Stub = { permission: 'default', answer: given, asked: 0, shown: [] };
    window.stub = stub;
    class Stubbed {
      onclick: (() => void) | null = null;
      static get permission() {
        return stub.permission;
      }
      static async requestPermission() {
        stub.asked += 1;
        stub.permission = stub.answer;
        return stub.permission;
      }
      constructor(title: string, { body = '' }: NotificationOptions = {}) {
        stub.shown.push({ title, body, click: () => this.onclick?.() });
      }
      close() {}
    }
    Object.defineProperty(window, 'Notification', { value: Stubbed });
  }, answer);
  await page.reload();
  return page;
}

async function hide(page: Page, isHidden: boolean): Promise<void> {
  await page.evaluate((value) => {
    Object.defineProperty(document, 'hidden', { value, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  }, isHidden);
}

const shown = (page: Page) => page.evaluate(() => window.stub.shown.map(({ title, body }) => [title, body]));
const asked = (page: Page) => page.evaluate(() => window.stub.asked);
const watchedIn = (page: Page) =>
  page.evaluate(() => {
    const [key = ''] = Object.keys(localStorage).filter((name) => name.startsWith('mps-watched '));
    return localStorage.getItem(key);
  });
const begin = (name: string) =>
  recordRun(service.client, project_id, { name, metrics: { accuracy: [0.5, 0.75] } });
const visitRun = (page: Page, experiment_id: string) =>
  visit(page, `projects/${project_id}/experiments/${experiment_id}`);
const button = (page: Page) => page.getByRole('button', { name: 'Notify me' });

test('a hidden page tells the end of the experiments that its user watches, and of no other', async () => {
  const page = await windowWith('granted');
  const [first, second, other] = await Promise.all(['first', 'second', 'other'].map(begin));
  for (const id of [first, second]) {
    await visitRun(page, id ?? '');
    await button(page).click();
    await page.getByText('A notification will tell its end').first().waitFor();
  }
  const findings = await axeFindings(page);
  await page.screenshot({ path: join(shots, 'watch.png') });
  await visit(page, '');
  await hide(page, true);
  await endRun(service.client, { project_id, experiment_id: first ?? '' }, 'FAILED');
  await endRun(service.client, { project_id, experiment_id: other ?? '' }, 'FAILED');
  await expect.poll(() => shown(page)).toEqual([['first failed', 'accuracy: 0.75']]);
  await page.evaluate(() => window.stub.shown[0]?.click());
  await hide(page, false);
  await page.getByRole('heading', { name: 'first', level: 1 }).waitFor();

  expect(await asked(page)).toBe(2);
  expect(findings).toEqual([]);
  await visitRun(page, second ?? '');
  expect(await button(page).getAttribute('aria-pressed')).toBe('true');
  await page.context().close();
});

test('a page that is seen shows nothing, and neither does one that watches no longer', async () => {
  const page = await windowWith('granted');
  const [seen, dropped] = await Promise.all(['seen', 'dropped'].map(begin));
  await visitRun(page, seen ?? '');
  await button(page).click();
  await visitRun(page, dropped ?? '');
  await button(page).click();
  await button(page).click();
  await expect.poll(() => button(page).getAttribute('aria-pressed')).toBe('false');
  const before = await watchedIn(page);
  await endRun(service.client, { project_id, experiment_id: seen ?? '' }, 'SUCCEEDED');
  await expect.poll(() => watchedIn(page)).toBe('[]');
  await hide(page, true);

  expect(before).toContain(seen);
  expect(before).not.toContain(dropped);
  expect(await shown(page)).toEqual([]);
  await page.context().close();
});

test('a page that the browser refuses says so, and asks only at a click', async () => {
  const page = await windowWith('denied');
  await visitRun(page, await begin('refused'));
  await settle(page);
  const before = await asked(page);
  await button(page).click();
  await page.getByText('This browser refuses notifications of this site').waitFor();

  expect(before).toBe(0);
  expect(await asked(page)).toBe(1);
  expect(await button(page).getAttribute('aria-pressed')).toBe('false');
  expect(service.faults).toEqual([]);
  await page.context().close();
});
