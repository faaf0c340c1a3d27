import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ExternalData } from '../../../../../shared/onnx/model/tensor/external-data.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'external-'));
  mkdirSync(join(folder, 'model', 'sub'), { recursive: true });
  writeFileSync(join(folder, 'secret'), 'secret');
  writeFileSync(join(folder, 'model', 'weights'), Uint8Array.of(1, 2, 3, 4));
  writeFileSync(join(folder, 'model', 'sub', 'more'), Uint8Array.of(5, 6));
  symlinkSync('../secret', join(folder, 'model', 'link'));
  symlinkSync('..', join(folder, 'model', 'up'));
});
afterAll(() => rmSync(folder, { recursive: true }));

test('files beside the model are read where the model says', () => {
  const external = new ExternalData(join(folder, 'model'));
  const read = (location: string, offset: number, from: number, length: number): number[] => {
    const into = new Uint8Array(length);
    external.range(location, offset, 2).read(into, from);
    return [...into];
  };
  expect(read('weights', 1, 0, 2)).toEqual([2, 3]);
  expect(read('weights', 1, 1, 1)).toEqual([3]);
  expect(read('sub/more', 0, 0, 2)).toEqual([5, 6]);
  expect(external.locations).toEqual(['weights', 'sub/more']);
  external.close();
});

test.each([
  '../secret',
  '/etc/passwd',
  'link',
  'up/secret',
  'sub/../../secret',
  '',
  '.',
  'sub',
  'missing',
  'a\0b',
])('nothing else: %j', (location) => {
  const external = new ExternalData(join(folder, 'model'));
  expect(() => external.range(location, 0, 1)).toThrow(/^The external data /);
  external.close();
});

test.each([
  [0, 5],
  [-1, 1],
  [Number.NaN, 1],
  [2 ** 53, 1],
])('no bytes that are not there: %d + %d', (offset, length) => {
  const external = new ExternalData(join(folder, 'model'));
  expect(() => external.range('weights', offset, length)).toThrow(/has 4 bytes/);
  external.close();
});
