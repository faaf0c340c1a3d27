import { chmod, copyFile, cp, glob, mkdir, rename, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, sep } from 'node:path';
import { system } from '../../../../shared/host/platform.ts';
import { isOpen } from '../job-folders.ts';

/**
 * Return the variables that tell optimization jobs where to find node and the program of their stages. If the
 * service runs as root, stages run as unprivileged users. If these cannot read the project's folder, copy the
 * needed files to `base`, which they can traverse. Otherwise return no variables.
 *
 * @param program folder of the bundle
 */
export async function stageVariables(program: string, base: string): Promise<Record<string, string>> {
  if (process.getuid?.() !== 0) return {};
  const resolver = createRequire(join(program, 'package.json'));
  const folderOf = (name: string) => {
    const [folder = ''] =
      new RegExp(`^.*[/\\\\]node_modules[/\\\\]${name}(?=[/\\\\])`).exec(resolver.resolve(name)) ?? [];
    return folder;
  };
  const readable = await Promise.all([
    isForAll(process.execPath, 0o001),
    isForAll(join(program, stageProgram), 0o004),
    ...packages.map((name) => isForAll(join(folderOf(name), 'package.json'), 0o004)),
  ]);
  if (readable.every(Boolean)) return {};
  const folder = join(base, `stage-${basename(program)}`);
  const variables = { STAGE_NODE: join(folder, 'node'), STAGE_PROGRAM: join(folder, stageProgram) };
  if ((await stat(folder).catch(() => undefined)) !== undefined) return variables;
  for await (const old of glob('stage-*', { cwd: base }))
    await rm(join(base, old), { recursive: true, force: true });
  const unfinished = `${folder}.${process.pid}`;
  await copyTo(unfinished, program, folderOf);
  await rename(unfinished, folder);
  return variables;
}

/** Whether unprivileged users may read or run a file. */
async function isForAll(file: string, right: 0o004 | 0o001): Promise<boolean> {
  const { mode } = await stat(file);
  return (mode & right) !== 0 && isOpen(dirname(file));
}

/** Path of the stage program within a bundle. */
const stageProgram = 'shared/onnx/engine/process/main.js';

/** Packages with native code, which are not bundled. */
const packages = ['onnxruntime-node', 'onnxruntime-common'];

async function copyTo(folder: string, program: string, folderOf: (name: string) => string): Promise<void> {
  await mkdir(join(folder, dirname(stageProgram)), { recursive: true });
  await copyFile(process.execPath, join(folder, 'node'));
  await copyFile(join(program, stageProgram), join(folder, stageProgram));
  await copyFile(join(program, 'package.json'), join(folder, 'package.json'));
  await cp(join(program, 'chunks'), join(folder, 'chunks'), { recursive: true });
  for (const name of packages) {
    const from = folderOf(name);
    const filter = (file: string) => isNeeded(file.slice(from.length));
    await cp(from, join(folder, 'node_modules', name), { recursive: true, filter });
  }
  for await (const one of glob('**', { cwd: folder, withFileTypes: true })) {
    await chmod(join(one.parentPath, one.name), one.isDirectory() ? 0o755 : 0o644);
  }
  await chmod(join(folder, 'node'), 0o755);
  await chmod(folder, 0o755);
}

/** Whether a stage on this machine needs a file of a package. Exclude files of other platforms. */
function isNeeded(file: string): boolean {
  const [, , , platform, processor] = file.slice(file.lastIndexOf(`${sep}bin${sep}`)).split(sep);
  if (!file.includes(`${sep}bin${sep}`)) return true;
  return (
    (platform === undefined || platform === system) && (processor === undefined || processor === process.arch)
  );
}
