import type { Page, Response } from 'playwright-core';
import { settle, visit } from '../console-service.ts';
import type { Figure } from './figure.ts';

/** Milliseconds in which every part of Home asks again at least once. */
const watched = 25_000;

/** Home of a service with so many experiments: when it says something, what it asks for, and how many records that brings. */
export async function measureHome(page: Page, experiments: number): Promise<Figure[]> {
  await visit(page, 'account');
  // Without what the page has kept of Home since the sign-in.
  await page.reload();
  await settle(page);
  const answers: Promise<number>[] = [];
  const onAnswer = (answer: Response) => void answers.push(recordsOf(answer));
  page.on('response', onAnswer);
  const begun = performance.now();
  await page.getByRole('link', { name: 'Home', exact: true }).click();
  await page.locator('main .line-link').first().waitFor();
  const first = (performance.now() - begun) / 1000;
  await page.waitForFunction(
    () =>
      document.querySelectorAll('main section').length >= 4 &&
      document.querySelector('main .skeleton') === null,
  );
  const whole = (performance.now() - begun) / 1000;
  const opened = answers.length;
  const openedRecords = await sum(answers);
  await page.waitForTimeout(watched);
  page.off('response', onAnswer);
  const later = answers.slice(opened);
  return [
    { what: `first lines of Home with ${experiments} experiments`, value: first, unit: 's', bound: 1 },
    { what: 'all its parts', value: whole, unit: 's', bound: 1 },
    { what: 'requests until then', value: opened, unit: '' },
    { what: 'records in their answers', value: openedRecords, unit: '' },
    { what: `requests in the next ${watched / 1000} seconds`, value: later.length, unit: '' },
    { what: 'records in their answers', value: await sum(later), unit: '' },
  ];
}

async function recordsOf(answer: Response): Promise<number> {
  const found: unknown = await answer.json().catch(() => undefined);
  return Array.isArray(found) ? found.length : 1;
}

const sum = async (numbers: readonly Promise<number>[]): Promise<number> =>
  (await Promise.all(numbers)).reduce((all, one) => all + one, 0);
