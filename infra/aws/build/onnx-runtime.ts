import { cp } from 'node:fs/promises';
import { join } from 'node:path';

/** The package with ONNX Runtime. */
export const onnxRuntime = 'onnxruntime-node';

/**
 * Copy ONNX Runtime for Linux on x86-64 next to a bundle. `infra/install.mjs` keeps its libraries on every
 * platform, so nothing is downloaded. Its other packages are for its install script.
 *
 * @param root folder of the project
 * @param folder folder of the bundle
 */
export async function addOnnxRuntime(root: string, folder: string): Promise<void> {
  for (const path of parts) {
    await cp(join(root, 'node_modules', path), join(folder, 'node_modules', path), {
      recursive: true,
      filter: (from) => !/\.(?:map|d\.ts)$/.test(from),
    });
  }
}

const parts = [
  `${onnxRuntime}/package.json`,
  `${onnxRuntime}/dist`,
  `${onnxRuntime}/bin/napi-v6/linux/x64`,
  'onnxruntime-common/package.json',
  'onnxruntime-common/dist/cjs',
] as const;
