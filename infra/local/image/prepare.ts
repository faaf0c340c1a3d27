import { spawnSync } from 'node:child_process';
import { copyFile, glob, mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { CommandError } from '../../command/command-error.ts';
import { runMain } from '../../command/run-main.ts';

/**
 * Prepare the folder that the image of the service runs: the bundle of `npm start`, and the packages with native code
 * for this platform. The folder appears complete or not at all.
 *
 * @param root folder of the project, with its dependencies installed
 */
export async function prepareServiceFolder(root: string, folder: string): Promise<void> {
  const unfinished = `${folder}.${process.pid}`;
  await mkdir(unfinished, { recursive: true });
  try {
    const bundle = join(root, 'infra/local/start/bundle.ts');
    const { status } = spawnSync(process.execPath, [bundle, root, join(unfinished, 'program')], {
      stdio: ['ignore', 2, 2],
    });
    if (status !== 0) throw new CommandError('The service was not bundled.');
    for (const pattern of nativeFiles) await copyFiles(root, pattern, unfinished);
    await copyFile(join(import.meta.dirname, 'start.mjs'), join(unfinished, 'start.mjs'));
    await rm(folder, { recursive: true, force: true });
    await rename(unfinished, folder);
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

const { platform, arch } = process;

/** What the bundle loads from packages. Their other files only serve their installation, or other platforms. */
const nativeFiles = [
  `node_modules/@dynoxide/${platform}-${arch}/**`,
  `node_modules/@img/sharp-${platform}-${arch}/**`,
  `node_modules/@img/sharp-libvips-${platform}-${arch}/**`,
  'node_modules/onnxruntime-common/{package.json,LICENSE*,dist/cjs/**}',
  `node_modules/onnxruntime-node/{package.json,LICENSE*,dist/**,bin/napi-v6/${platform}/${arch}/*}`,
];

async function copyFiles(root: string, pattern: string, into: string): Promise<void> {
  let copied = 0;
  for await (const entry of glob(pattern, { cwd: root, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    const to = join(into, file.slice(resolve(root).length));
    await mkdir(dirname(to), { recursive: true });
    await copyFile(file, to);
    copied += 1;
  }
  if (copied === 0) throw new CommandError(`There is no ${pattern}: npm could not fetch it.`);
}

if (import.meta.main) {
  await runMain(async () => {
    const [, , folder] = process.argv;
    if (folder === undefined) throw new CommandError('Usage: node infra/local/image/prepare.ts <folder>');
    await prepareServiceFolder(resolve(import.meta.dirname, '../../..'), resolve(folder));
    return 0;
  });
}
