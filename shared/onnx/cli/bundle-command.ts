import { basename } from 'node:path';
import { build } from 'esbuild';
import type { Bundle } from '../../bundle/write-bundle.ts';

/** Entry points of the bundle. Each one becomes one file. */
const programs = { command: 'shared/onnx/cli/command.ts', stage: 'shared/onnx/engine/process/main.ts' };

/**
 * Bundle the command and the program of its stages.
 *
 * @param root folder of the project
 */
export async function bundleCommand(root: string): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: programs,
    outdir: '.',
    write: false,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    mainFields: ['module', 'main'],
    // A native library.
    external: ['onnxruntime-node'],
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    // CommonJS packages load Node's built-in modules with require.
    banner: {
      js: "import { createRequire as requireOfBundle } from 'node:module'; const require = requireOfBundle(import.meta.url);",
    },
    metafile: true,
    logLevel: 'warning',
  });
  return {
    files: outputFiles.map(({ path, contents }) => ({ name: basename(path), contents })),
    sources: Object.keys(metafile.inputs),
  };
}
