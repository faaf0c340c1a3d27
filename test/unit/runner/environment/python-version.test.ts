import { expect, test } from 'vitest';
import { allowsVersion } from '../../../../shared/runner/environment/install/python-version.ts';

test.each([
  ['>=3.12', '3.11.2', false],
  ['>=3.11', '3.11.2', true],
  ['>=3.10,<3.12', '3.11.2', true],
  ['>3.11', '3.11.2', true],
  ['<=3.11', '3.11.2', false],
  ['==3.11.*', '3.11.2', true],
  ['==3.1.*', '3.11.2', false],
  ['==3.11', '3.11.0', true],
  ['!=3.11.*', '3.11.2', false],
  ['~=3.10', '3.11.2', true],
  ['~=3.10.0', '3.11.2', false],
  ['>=3.13', '3.13.0rc1', true],
  ['>=3.9.dev0', '3.11.2', true],
])('%s with Python %s: %s', (condition, version, expected) => {
  expect(allowsVersion(condition, version)).toBe(expected);
});
