import { createHash } from 'node:crypto';
import { access, chmod, glob, mkdir, mkdtemp, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { build } from 'esbuild';
import { inject } from 'vitest';
import { bundleOptions } from '../../infra/service/bundle-options.ts';

const root = join(import.meta.dirname, '../..');

/** What containers of the tests run, and the S3 server: what is killed leaves nothing compiled to the next one. */
const programs = [
  'functions/jobs/train.job.ts',
  'functions/jobs/prune.job.ts',
  'functions/jobs/quantize.job.ts',
  'infra/aws/job-image/run-job.ts',
  'infra/local/s3/main.ts',
  'shared/onnx/engine/process/main.ts',
  'test/integration/optimization/copying.job.ts',
];

const dayMilliseconds = 24 * 60 * 60 * 1000;

/**
 * Bundles the programs of jobs as the local service does, once for all test files: a job starts in a third of the time
 * that it takes from the sources. The folder is named by what is in it and stays, with what node compiles of these and of
 * other programs, until it was not used for a day.
 */
export async function bundleJobPrograms(): Promise<string> {
  // Below the root, where packages with native code are found.
  const builds = join(root, '.build/test');
  const outdir = join(builds, 'jobs');
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: programs,
    outdir,
    outbase: root,
    external: ['onnxruntime-node'],
    write: false,
    ...bundleOptions,
  });
  const digest = createHash('sha256');
  for (const { path, hash } of outputFiles) digest.update(`${path} ${hash}\n`);
  const folder = `${outdir}-${digest.digest('hex').slice(0, 16)}`;
  await access(folder).catch(async () => {
    await mkdir(builds, { recursive: true });
    const making = await mkdtemp(`${folder}-`);
    for (const { path, contents } of outputFiles) {
      const file = join(making, relative(outdir, path));
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, contents);
    }
    await writeFile(join(making, 'package.json'), '{"type":"module"}\n');
    // As root, stages run as users of their own.
    await chmod(making, 0o755);
    // Another run may have made the same meanwhile.
    await rename(making, folder).catch(() => rm(making, { recursive: true }));
  });
  await utimes(folder, new Date(), new Date());
  await removeUnused(builds);
  return folder;
}

async function removeUnused(builds: string): Promise<void> {
  for await (const name of glob('jobs-*', { cwd: builds })) {
    const folder = join(builds, name);
    if (Date.now() - (await stat(folder)).mtimeMs > dayMilliseconds)
      await rm(folder, { recursive: true, force: true });
  }
}

/** The path of a program's bundle; programs that are not bundled run from their source. */
export const jobProgram = (source: string): string =>
  programs.includes(source)
    ? join(inject('jobPrograms'), source.replace(/\.ts$/, '.js'))
    : join(root, source);

/** The command of a container that runs a job's program. */
export const jobCommand = (source: string): string[] => [
  process.execPath,
  jobProgram('infra/aws/job-image/run-job.ts'),
  jobProgram(source),
];
