import { glob } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../..');

test('the client for browsers has no module of the service, and none of Node', async () => {
  const modules = await Array.fromAsync(glob('shared/client/*.ts', { cwd: root }));
  expect(modules).toContain('shared/client/client.ts');
  // A module of Node is an error of a bundle for browsers.
  const { metafile, outputFiles } = await build({
    absWorkingDir: root,
    stdin: { contents: modules.map((path) => `export * from './${path}';`).join('\n'), resolveDir: root },
    bundle: true,
    platform: 'browser',
    format: 'esm',
    minify: true,
    write: false,
    metafile: true,
  });
  const others = Object.keys(metafile.inputs).filter(
    (path) => path !== '<stdin>' && !/^shared\/client\/[^/]+\.ts$/.test(path),
  );
  expect(others).toEqual([]);
  expect(outputFiles[0]?.contents.length).toBeLessThan(20_000);
});
