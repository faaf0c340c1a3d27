import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkoutAbove, ownAdminPassword, runningService } from '../../../cli/login/checkout.ts';

let checkout: string;
beforeEach(async () => {
  checkout = await mkdtemp(join(tmpdir(), 'mps-checkout-'));
  await mkdir(join(checkout, '.data'));
  await mkdir(join(checkout, 'test/examples/hello'), { recursive: true });
  await writeFile(join(checkout, 'package.json'), JSON.stringify({ name: 'model-project-service' }));
});
afterEach(() => rm(checkout, { recursive: true, force: true }));

const running = (url: string) =>
  writeFile(join(checkout, '.data/service.json'), JSON.stringify({ url, pid: process.pid }));

test('a command that was installed finds the checkout that it stands in', async () => {
  expect(checkoutAbove(join(checkout, 'test/examples/hello'))).toBe(checkout);
  expect(checkoutAbove(checkout)).toBe(checkout);
  expect(checkoutAbove(join(checkout, '..'))).toBeUndefined();
  await writeFile(join(checkout, 'package.json'), JSON.stringify({ name: 'something-else' }));
  expect(checkoutAbove(checkout)).toBeUndefined();
});

test('a checkout leads to no service elsewhere, nor to a password that others could have put there', async () => {
  const env = { MPS_CHECKOUT: checkout };
  await running('http://127.0.0.1:3000');
  expect(await runningService(env)).toBe('http://127.0.0.1:3000');
  await running('https://example.com');
  expect(await runningService(env)).toBeUndefined();
  const file = join(checkout, '.data/admin-password');
  await writeFile(file, 'made up', { mode: 0o600 });
  expect(await ownAdminPassword(env)).toBe('made up');
  await chmod(file, 0o644);
  expect(await ownAdminPassword(env)).toBeUndefined();
});
