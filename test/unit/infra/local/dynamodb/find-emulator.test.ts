import { expect, test } from 'vitest';
import { findEmulator } from '../../../../../infra/local/dynamodb/find-emulator.ts';

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
