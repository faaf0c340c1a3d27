import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const errorClass = /\bclass (\w+) extends \w*(?:Error|Exception)\b/g;

test('classes of errors are named *Error', async () => {
  const files = await Array.fromAsync(glob('{functions,shared,infra,cli,test}/**/*.{ts,tsx}', { cwd: root }));
  const texts = await Promise.all(files.map((file) => readFile(join(root, file), 'utf8')));
  const names = texts.flatMap((text) => [...text.matchAll(errorClass)].map(([, name = '']) => name));
  expect(names.length).toBeGreaterThan(20);
  expect(names.filter((name) => !name.endsWith('Error'))).toEqual([]);
});
