import { join } from 'node:path';
import { build } from 'esbuild';
import { bundleOptions } from '../../../../infra/service/bundle-options.ts';

const root = join(import.meta.dirname, '../../../..');

/** The bundled program of the killed processes, and the folder in which Node keeps it compiled. */
export interface Program {
  file: string;
  cache: string;
}

/**
 * Bundles it within the folder of a proof, unless that is given one, since loading the SDK from its sources takes most of a
 * second.
 */
export async function buildProgram({
  folder,
  program,
}: {
  folder: string;
  program?: Program;
}): Promise<Program> {
  if (program !== undefined) return program;
  const outdir = join(folder, 'program');
  await build({
    ...bundleOptions,
    absWorkingDir: root,
    entryPoints: [{ in: 'test/proofs/faults/program.ts', out: 'program' }],
    outdir,
    outExtension: { '.js': '.mjs' },
    external: ['onnxruntime-node', 'sharp'],
    sourcemap: false,
  });
  return { file: join(outdir, 'program.mjs'), cache: join(folder, 'cache') };
}
