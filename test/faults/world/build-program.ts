import { join } from 'node:path';
import { build } from 'esbuild';
import { bundleOptions } from '../../../infra/local/build/bundle-options.ts';

const root = join(import.meta.dirname, '../../..');

/** Bundles the program of the killed processes into `folder`, since loading the SDK from its sources takes most of a second. */
export async function buildProgram(folder: string): Promise<string> {
  await build({
    ...bundleOptions,
    absWorkingDir: root,
    entryPoints: [{ in: 'test/faults/program.ts', out: 'program' }],
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    external: ['onnxruntime-node', 'sharp'],
    sourcemap: false,
  });
  return join(folder, 'program.mjs');
}
