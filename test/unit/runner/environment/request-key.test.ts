import { expect, test } from 'vitest';
import { type RequestKeyInput, requestKey } from '../../../../shared/runner/environment/request-key.ts';

const input: RequestKeyInput = {
  envType: 'python',
  dependencies: [
    { kind: 'package', spec: 'numpy>=2' },
    { kind: 'file', path: 'w/tiny.whl', sha256: 'aa', extras: '', marker: '' },
  ],
  interpreter: 'cpython-3.11.7',
  executable: '/usr/bin/python3.11',
  platform: 'linux-x64-glibc2.36',
  folder: '/srv/environments/p1',
};

test('is a SHA-256 and does not depend on order or repetition', () => {
  const key = requestKey(input);
  expect(key).toMatch(/^[0-9a-f]{64}$/);
  expect(
    requestKey({ ...input, dependencies: [...input.dependencies, ...input.dependencies].reverse() }),
  ).toBe(key);
});

test.each<Partial<RequestKeyInput>>([
  { envType: 'node' },
  { dependencies: input.dependencies.slice(0, 1) },
  { dependencies: [{ kind: 'package', spec: 'numpy>=3' }] },
  {
    dependencies: [
      input.dependencies[0]!,
      { kind: 'file', path: 'w/tiny.whl', sha256: 'ab', extras: '', marker: '' },
    ],
  },
  { dependencies: [...input.dependencies, { kind: 'option', name: 'pre', value: '' }] },
  {
    dependencies: [...input.dependencies, { kind: 'option', name: 'index-url', value: 'https://a.example/' }],
  },
  { interpreter: 'cpython-3.11.8' },
  { executable: '/usr/local/bin/python3.11' },
  { platform: 'linux-x64-musl' },
  { folder: '/srv/environments/p2' },
])('changes with %j', (change) => {
  expect(requestKey({ ...input, ...change })).not.toBe(requestKey(input));
});
