import { copyFile, glob, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { uvRequirement } from '../../../shared/runner/environment/install/uv-pin.ts';
import { bundleOptions } from '../../service/bundle-options.ts';

/**
 * Prepare the build context of the job image with its Dockerfile: the bundled jobs and their native libraries.
 * This needs neither network nor Docker, and takes under two seconds. The folder appears complete or not at all,
 * and its content depends only on the sources and the lock file.
 *
 * @param root folder of the project, with its dependencies installed
 */
export async function prepareImageContext(root: string, folder: string): Promise<void> {
  const unfinished = `${folder}.${process.pid}`;
  await mkdir(unfinished, { recursive: true });
  try {
    await bundlePrograms(root, join(unfinished, 'program'));
    for (const name of Object.keys(nativePackages)) {
      await copyPackage(root, name, join(unfinished, 'node_modules'));
    }
    await copyFile(join(import.meta.dirname, 'Dockerfile'), join(unfinished, 'Dockerfile'));
    await writeFile(join(unfinished, 'uv.txt'), `${uvRequirement}\n`);
    await rm(folder, { recursive: true, force: true });
    await rename(unfinished, folder);
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

const programs = [
  'functions/jobs/*.job.ts',
  'shared/onnx/engine/process/main.ts',
  'infra/aws/job-image/run-job.ts',
];

/**
 * Packages with native code, which are not bundled, and the files of them that the image needs. `infra/install.mjs`
 * keeps the binaries of linux/amd64 on every platform. Files that only their installation needs are omitted.
 */
const nativePackages: Readonly<Record<string, readonly string[]>> = {
  'onnxruntime-node': ['package.json', 'LICENSE*', 'dist/**/*.js', 'bin/napi-v6/linux/x64/*'],
  'onnxruntime-common': ['package.json', 'LICENSE*', 'dist/{cjs,esm}/**/*.{js,json}'],
};

async function bundlePrograms(root: string, folder: string): Promise<void> {
  await build({
    ...bundleOptions,
    absWorkingDir: root,
    entryPoints: (await Array.fromAsync(glob(programs, { cwd: root }))).sort(),
    outdir: folder,
    outbase: root,
    external: Object.keys(nativePackages),
    // Nobody reads source maps in a container.
    sourcemap: false,
  });
  await writeFile(join(folder, 'package.json'), '{"type":"module"}\n');
}

async function copyPackage(root: string, name: string, into: string): Promise<void> {
  const from = join(root, 'node_modules', name);
  for await (const file of glob([...(nativePackages[name] ?? [])], { cwd: from })) {
    await mkdir(dirname(join(into, name, file)), { recursive: true });
    await copyFile(join(from, file), join(into, name, file));
  }
}
