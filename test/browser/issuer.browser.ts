import { afterAll, beforeAll, expect, test } from 'vitest';
import { startPeopleIssuer } from '../integration/auth/people-issuer.ts';
import { type ConsoleService, startConsole } from './console-service.ts';

let issuer: Awaited<ReturnType<typeof startPeopleIssuer>>;
let service: ConsoleService;

beforeAll(async () => {
  issuer = await startPeopleIssuer();
  issuer.people['ada'] = { preferred_username: 'ada', groups: ['ml'] };
  service = await startConsole(undefined, { OIDC_ISSUER: issuer.url, OIDC_GROUPS: 'ml=developer' });
});
afterAll(async () => {
  await service.close();
  await issuer.close();
});

test('somebody signs in through the form of the issuer, and stays signed in', async () => {
  const page = await service.open();
  await page.getByRole('link', { name: 'Sign in with your organization' }).click();
  await page.locator('input[name=login]').fill('ada');
  await page.locator('input[name=password]').fill('any');
  await page.getByRole('button', { name: /sign/i }).click();
  await page.getByRole('button', { name: /continue/i }).click();
  await page.locator('.shell').waitFor();

  expect(new URL(page.url()).hash).toBe('#/');
  await page.reload();
  await page.locator('.shell').waitFor();
  await page.goBack();
  expect(page.url()).not.toContain('session');
});

test('who refuses at the issuer is told to start again', async () => {
  const page = await service.open();
  await page.goto(`${service.url}/auth/oidc/callback?error=access_denied&state=x`);

  await page.getByText('Start again').waitFor();
  expect(await page.getByRole('link', { name: 'Sign in with your organization' }).count()).toBe(1);
});
