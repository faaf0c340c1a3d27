import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findEmulator, unpinned } from '../../../../../infra/local/dynamodb/find-emulator.ts';

test('the embedded emulator is that of this platform, named with its version', () => {
  expect(findEmulator().name).toMatch(/^@dynoxide\/[\w-]+ \d+\.\d+\.\d+$/);
});

test.each([
  ['sunos-x64', 'There is no embedded DynamoDB emulator for sunos-x64; there is one for darwin-arm64'],
  ['linux-riscv64', "or run another emulator, such as Amazon's"],
  ['win32-x64', 'On Windows the service runs inside WSL'],
])('on %s the start says what to do', (platform, sentence) => {
  expect(() => findEmulator(platform)).toThrow(sentence);
});

test('a package that npm could not fetch is named with the command that fetches it', () => {
  const other = findEmulator().name.includes('darwin-arm64') ? 'darwin-x64' : 'darwin-arm64';

  expect(() => findEmulator(other)).toThrow(
    `The package @dynoxide/${other} is missing: npm could not fetch it. Run "npm ci --include=optional"`,
  );
});

test('every package of the lock file has a checksum, but for emulators that are not run unseen', async () => {
  const { packages } = JSON.parse(
    await readFile(join(import.meta.dirname, '../../../../../package-lock.json'), 'utf8'),
  );

  const without = Object.entries<{ integrity?: string; inBundle?: boolean }>(packages)
    // A package in the archive of another one is covered by the checksum of that.
    .filter(([path, { integrity, inBundle }]) => path !== '' && integrity === undefined && inBundle !== true)
    .map(([path]) => path.replace('node_modules/', ''));

  expect(without).toEqual(unpinned.map((platform) => `@dynoxide/${platform}`));
});

test('a program without a checksum runs only for an operator who names its SHA-256', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'emulator-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const program = join(folder, 'dynoxide');
  await writeFile(program, 'anything');
  await writeFile(join(folder, 'package.json'), '{"version":"1.2.1"}');
  const digest = 'ee0874170b7f6f32b8c2ac9573c428d35b575270a66b757c2c0185d2bd09718d';
  const found = (vouched: string | undefined) =>
    findEmulator('darwin-arm64', { find: () => program, vouched });

  expect(() => found(undefined)).toThrow(
    `The package @dynoxide/darwin-arm64 1.2.1 has no checksum in package-lock.json, so its program is not run unseen. Compare its SHA-256 with that of a copy you trust, and start with EMULATOR_SHA256=${digest};`,
  );
  expect(() => found('0'.repeat(64))).toThrow('EMULATOR_SHA256 is that of another program.');
  expect(found(digest.toUpperCase())).toEqual({ program, name: '@dynoxide/darwin-arm64 1.2.1' });
});
