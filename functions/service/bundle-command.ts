import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';

export interface CommandBundle {
  code: Uint8Array;
  version: string;
  /** Paths of all files that it was made of, from the folder of the project. */
  sources: string[];
}

/** Bundles the command `mps` into one file for the oldest Node on which it runs. @param root folder of the project */
export async function bundleCommand(root: string): Promise<CommandBundle> {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['cli/main.ts'],
    outfile: 'mps.mjs',
    write: false,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
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
  const code = outputFiles[0]?.contents ?? new Uint8Array();
  return { code, version, sources: [...Object.keys(metafile.inputs), 'package.json'] };
}
