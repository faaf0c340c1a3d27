import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startPeopleIssuer } from '../integration/auth/people-issuer.ts';
import { admin, type ConsoleService, signIn, startConsole, visit } from './console-service.ts';

let issuer: Awaited<ReturnType<typeof startPeopleIssuer>>;
let service: ConsoleService;

beforeAll(async () => {
  issuer = await startPeopleIssuer();
  issuer.people['ada'] = { preferred_username: 'ada', groups: ['ml'] };
  issuer.people['grace'] = { preferred_username: 'grace', groups: ['ml'] };
  service = await startConsole(undefined, {
    OIDC_ISSUER: issuer.url,
    OIDC_GROUPS: 'ml=developer,boss=admin',
  });
});
afterAll(async () => {
  await service.close();
  await issuer.close();
});

/** Fill in the forms of the provider. */
async function answerForms(page: Page, name: string): Promise<void> {
  await page.locator('input[name=login]').fill(name);
  await page.locator('input[name=password]').fill('any');
  await page.getByRole('button', { name: /sign/i }).click();
  await page.getByRole('button', { name: /continue/i }).click();
}

const organization = (page: Page) => page.getByRole('link', { name: 'Sign in with your organization' });

test('somebody signs in through the form of the issuer, and stays signed in', async () => {
  const page = await service.open();
  await organization(page).click();
  await answerForms(page, 'ada');
  await page.locator('.shell').waitFor();

  expect(new URL(page.url()).hash).toBe('#/');
  await page.reload();
  await page.locator('.shell').waitFor();
  expect(page.url()).not.toContain('session');
  expect(service.faults).toEqual([]);
});

test('who comes back without their sign-in is told to start again, and can', async () => {
  const page = await service.open();
  await page.goto(`${service.url}/auth/oidc/callback?error=access_denied&state=x`);

  await page.getByText('Start again').waitFor();
  await organization(page).waitFor();
  expect(service.faults).toEqual([]);
});

test('who is signed in with a password links their account, and then opens it from the issuer', async () => {
  const page = await service.open();
  await signIn(page, admin);
  await visit(page, 'account');
  await page.getByRole('button', { name: 'Link my account' }).click();
  await answerForms(page, 'grace');
  await page.getByText('Your account is linked').waitFor();

  issuer.people['grace'] = { preferred_username: 'grace', groups: ['boss'] };
  const other = await service.open();
  await organization(other).click();
  await answerForms(other, 'grace');
  await other.locator('.shell').waitFor();
  await visit(other, 'users');
  await other.getByText('ada').first().waitFor();
  expect(service.faults).toEqual([]);
});
