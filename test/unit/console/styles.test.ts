import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const folder = join(import.meta.dirname, '../../../functions/console/app/style');

test('no rule makes a browser style a whole table anew for a row that comes or goes', async () => {
  const files = await Array.fromAsync(glob('*.css', { cwd: folder }));
  expect(files.length).toBeGreaterThan(5);
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
  expect(texts.join('\n').match(/^.*[+~]\s*(?:\*|:).*$/gm)).toBeNull();
});
