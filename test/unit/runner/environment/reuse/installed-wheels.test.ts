import { describe, expect, test } from 'vitest';
import { installedWheels } from '../../../../../shared/runner/environment/installed-wheels.ts';
import { isShareable } from '../../../../../shared/runner/environment/reuse-shared.ts';

const file = (filename: string, sha256: string | undefined = 'a'.repeat(64)) => ({ filename, sha256 });

describe('installedWheels', () => {
  test('are those of the list that were handed over; the programs of the environment itself may be there', () => {
    const files = [
      file('Foo_Bar-1.0-py3-none-any.whl'),
      file('torch-2.1.0%2Bcpu-1-cp311-cp311-linux_x86_64.whl'),
    ];
    expect(installedWheels('foo-bar==1.0\npip==23.2\ntorch==2.1.0+cpu\n', files)).toEqual([
      { name: 'foo-bar', version: '1.0', sha256: 'a'.repeat(64) },
      { name: 'torch', version: '2.1.0+cpu', sha256: 'a'.repeat(64) },
    ]);
  });

  test.each([
    ['a source archive was handed over', [file('foo-1.0-py3-none-any.whl'), file('bar-2.0.tar.gz')]],
    ['a wheel has no hash', [{ filename: 'foo-1.0-py3-none-any.whl', sha256: undefined }]],
    ['a package came on another way', []],
    ['another version was handed over', [file('foo-2.0-py3-none-any.whl')]],
    [
      'two files have one name',
      [file('foo-1.0-py3-none-any.whl'), file('foo-1.0-py3-none-any.whl', 'b'.repeat(64))],
    ],
  ])('none where %s', (_, files) => {
    expect(installedWheels('foo==1.0\n', files)).toBeNull();
  });
});

test.each([
  [[{ kind: 'package', spec: 'foo>=1' }], true],
  [
    [
      { kind: 'package', spec: 'foo' },
      { kind: 'option', name: 'extra-index-url', value: 'https://a.example' },
    ],
    true,
  ],
  [[{ kind: 'package', spec: "foo ; platform_node != 'a@b'" }], true],
  [[{ kind: 'package', spec: 'foo @ https://a.example/foo.whl' }], false],
  [
    [
      { kind: 'package', spec: 'foo' },
      { kind: 'option', name: 'find-links', value: 'https://a.example' },
    ],
    false,
  ],
  [
    [
      { kind: 'package', spec: 'foo' },
      { kind: 'file', path: 'a.whl', sha256: '', extras: '', marker: '' },
    ],
    false,
  ],
  [[], false],
] as const)('%j may be shared: %s', (dependencies, expected) => {
  expect(isShareable(dependencies)).toBe(expected);
});
