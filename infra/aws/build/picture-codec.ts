import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { glob, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { system } from '../../../shared/host/platform.ts';

/**
 * Install the picture codec for Linux into `node_modules` in `folder`, with the version and checksums of the
 * project's lock file. It is an asset of the functions that receive pictures, next to their bundles, which import
 * `sharp`. The folder appears complete or not at all.
 *
 * @param root folder of the project, with its package.json and package-lock.json
 * @throws if npm fails, or the platform's binaries are missing
 */
export async function installPictureCodec(
  root: string,
  folder: string,
  cpu: CodecProcessor = 'arm64',
): Promise<void> {
  const { dependencies } = Package.parse(JSON.parse(await readFile(join(root, 'package.json'), 'utf8')));
  const { lockfileVersion, packages } = Lock.parse(
    JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')),
  );
  const own = { name: 'picture-codec', private: true, dependencies: { sharp: dependencies['sharp'] } };
  const unfinished = `${folder}.${process.pid}`;
  await mkdir(unfinished, { recursive: true });
  try {
    await writeFile(join(unfinished, 'package.json'), JSON.stringify(own));
    const lock = { ...own, lockfileVersion, packages: { '': own, ...lockOf(packages, 'sharp') } };
    await writeFile(join(unfinished, 'package-lock.json'), JSON.stringify(lock));
    const { status, stderr } = spawnSync(
      'npm',
      ['ci', ...platform(cpu), '--include=optional', '--ignore-scripts', '--no-audit', '--no-fund'],
      { cwd: unfinished, encoding: 'utf8', shell: system === 'win32' },
    );
    if (status !== 0) throw new Error(`npm could not fetch the picture codec: ${stderr}`);
    const modules = join(unfinished, 'node_modules');
    for (const pattern of binaries(cpu)) {
      if ((await sizeOf(modules, pattern)) === 0) throw new Error(`npm did not fetch ${pattern}`);
    }
    for await (const path of glob(needless, { cwd: modules })) {
      await rm(join(modules, path), { recursive: true, force: true });
    }
    await rm(join(unfinished, 'package-lock.json'));
    await rm(folder, { recursive: true, force: true });
    await rename(unfinished, folder);
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

/** Supported Linux processors. Deployed functions run on the first, but for that of the served models. */
type CodecProcessor = 'arm64' | 'x64';

const Package = z.object({
  version: z.string().optional(),
  dependencies: z.record(z.string(), z.string()).default({}),
  optionalDependencies: z.record(z.string(), z.string()).default({}),
});

const Lock = z.object({ lockfileVersion: z.literal(3), packages: z.record(z.string(), z.looseObject({})) });

/** Return the part of a lock file that one package needs, with the same versions and checksums. */
function lockOf(packages: Packages, name: string): Packages {
  const kept: Packages = {};
  const visit = (from: string, wanted: string): void => {
    const path = locate(packages, from, wanted);
    const entry = path === undefined ? undefined : packages[path];
    if (path === undefined || entry === undefined || path in kept) return;
    kept[path] = entry;
    const { dependencies, optionalDependencies } = Package.parse(entry);
    for (const next of Object.keys({ ...dependencies, ...optionalDependencies })) visit(path, next);
  };
  visit('', name);
  return kept;
}

type Packages = z.infer<typeof Lock>['packages'];

/** Return the path, in the lock file, of the package that `from` resolves `name` to: the nearest one above it. */
function locate(packages: Packages, from: string, name: string): string | undefined {
  for (let base = from; ; base = base.slice(0, Math.max(0, base.lastIndexOf('/node_modules/')))) {
    const path = base === '' ? `node_modules/${name}` : `${base}/node_modules/${name}`;
    if (path in packages) return path;
    if (base === '') return undefined;
  }
}

/** npm flags for the platform of the functions, not that of the developer. */
const platform = (cpu: CodecProcessor) => ['--os=linux', `--cpu=${cpu}`, '--libc=glibc'];

/** Files that the function needs for decoding: the binding and its library. */
const binaries = (cpu: CodecProcessor) => [
  `@img/sharp-linux-${cpu}/**/*.node`,
  `@img/sharp-libvips-linux-${cpu}/**/libvips-cpp.so*`,
];

/** Return the total size of matching files in a folder, in bytes. */
async function sizeOf(folder: string, pattern: string): Promise<number> {
  let bytes = 0;
  for await (const file of glob(pattern, { cwd: folder })) {
    const { size } = await stat(join(folder, file));
    bytes += size;
  }
  return bytes;
}

/** Files for people, compilers and npm itself. npm's notes also name the used registry. */
const needless = ['**/*.d.{ts,cts,mts}', 'sharp/{src,install}', '**/README.md', '.bin', '.package-lock.json'];

/** Return the cache folder of the picture codec's locked version. */
export async function codecFolder(root: string, cpu: CodecProcessor = 'arm64'): Promise<string> {
  const lock = await readFile(join(root, 'package-lock.json'));
  const digest = createHash('sha256').update(lock).digest('hex').slice(0, 16);
  return join(root, '.build/picture-codec', cpu === 'arm64' ? digest : `${digest}-${cpu}`);
}
