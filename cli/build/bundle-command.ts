import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { build } from 'esbuild';

/** The oldest Node on which the command runs. */
const target = 'node20';

/**
 * Bundles the command into `<folder>/mps.mjs`, and notes beside it which sources it was made of. Both appear whole.
 *
 * @param root folder of the project
 */
export async function bundleCommand(root: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  const unfinished = join(folder, `${process.pid}.mjs`);
  try {
    const { metafile } = await build({
      absWorkingDir: root,
      entryPoints: ['cli/main.ts'],
      outfile: unfinished,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target,
      mainFields: ['module', 'main'],
      minify: true,
      // Stack traces of defects name functions.
      keepNames: true,
      legalComments: 'none',
      metafile: true,
      define: { MPS_VERSION: JSON.stringify(version) },
      banner: {
        // CommonJS packages ask for node's own modules by require.
        js: "#!/usr/bin/env node\nimport { createRequire as requireOfBundle } from 'node:module'; const require = requireOfBundle(import.meta.url);",
      },
      logLevel: 'warning',
    });
    const paths = [...Object.keys(metafile.inputs), 'package.json'].map((path) => relative('.', path));
    const sources = await Promise.all(
      paths.map(async (path) => {
        const { size, mtimeMs: time } = await stat(join(root, path));
        return { path, size, time };
      }),
    );
    await writeFile(`${unfinished}.json`, JSON.stringify(sources));
    await rename(unfinished, join(folder, 'mps.mjs'));
    await rename(`${unfinished}.json`, join(folder, 'sources.json'));
  } finally {
    await rm(unfinished, { force: true });
    await rm(`${unfinished}.json`, { force: true });
  }
}
