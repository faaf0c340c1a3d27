import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { bundleOptions } from '../../../infra/service/bundle-options.ts';

const root = join(import.meta.dirname, '../../..');

/** The program of stages, bundled as the service bundles it. */
export interface BundledStage extends Disposable {
  /** Path of the program. */
  program: string;
}

/** Bundles the program of stages into a folder of its own, which is removed when the result is disposed of. */
export async function bundleStage(): Promise<BundledStage> {
  // Within the project, where the bundle finds the packages that are not part of it.
  const data = join(root, '.data');
  mkdirSync(data, { recursive: true });
  const folder = mkdtempSync(join(data, 'stage-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    await build({
      absWorkingDir: root,
      entryPoints: ['shared/onnx/engine/process/main.ts'],
      outdir: folder,
      external: ['onnxruntime-node'],
      ...bundleOptions,
    });
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}\n');
    return { program: join(folder, 'main.js'), [Symbol.dispose]: remove };
  } catch (error) {
    remove();
    throw error;
  }
}
