import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { inject } from 'vitest';
import { bundleOptions } from '../../infra/local/build/bundle-options.ts';

const root = join(import.meta.dirname, '../..');

/** What containers of the tests run, and the S3 server: what is killed leaves nothing compiled to the next one. */
const programs = [
  'functions/jobs/train.job.ts',
  'functions/jobs/prune.job.ts',
  'functions/jobs/quantize.job.ts',
  'infra/job-image/run-job.ts',
  'infra/local/s3/main.ts',
  'shared/onnx/stage/main.ts',
  'test/integration/optimization/copying.job.ts',
];

/**
 * Bundles the programs of jobs as the local service does, once for all test files: a job starts in a third of the time
 * that it takes from the sources. Returns their folder and what removes it.
 */
export async function bundleJobPrograms(): Promise<{ folder: string; remove(): Promise<void> }> {
  const builds = join(root, '.build/test');
  await mkdir(builds, { recursive: true });
  // Below the root, where packages with native code are found.
  const folder = await mkdtemp(join(builds, 'jobs-'));
  await build({
    absWorkingDir: root,
    entryPoints: programs,
    outdir: folder,
    outbase: root,
    external: ['onnxruntime-node'],
    ...bundleOptions,
  });
  // As root, stages run as users of their own.
  await chmod(folder, 0o755);
  await writeFile(join(folder, 'package.json'), '{"type":"module"}\n');
  return {
    folder,
    // Programs that end may still be writing what they compiled.
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }),
  };
}

/** The path of a program's bundle; programs that are not bundled run from their source. */
export const jobProgram = (source: string): string =>
  programs.includes(source)
    ? join(inject('jobPrograms'), source.replace(/\.ts$/, '.js'))
    : join(root, source);

/** The command of a container that runs a job's program. */
export const jobCommand = (source: string): string[] => [
  process.execPath,
  jobProgram('infra/job-image/run-job.ts'),
  jobProgram(source),
];
