import { expect, test } from 'vitest';
import { linkFault } from '../../../../../shared/runner/environment/pack/seal-environment.ts';

test.each([
  ['bin/python3', '/usr/bin/python3.11'],
  ['bin/python', 'python3'],
  ['lib64', 'lib'],
  ['node_modules/.bin/x', '../x/bin/x.js'],
  ['a/b/c', '../../d'],
])('%s -> %s is legitimate', (path, target) => {
  expect(linkFault(path, target, ['/usr/bin/python3.11'])).toBeNull();
});

test.each([
  ['bin/python3', '/etc/shadow'],
  ['bin/python3', '/usr/bin/../bin/python3.11'],
  ['x', '../y'],
  ['x', '..'],
  ['a/x', '../../y'],
  ['x', 'a/../../y'],
  ['x', 'a/../b'],
  ['x', '.'],
  ['x', ''],
])('%s -> %j is refused', (path, target) => {
  expect(linkFault(path, target, ['/usr/bin/python3.11'])).toEqual(expect.any(String));
});
