import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram, succeeds } from './run-program.ts';
import { standInNodeBase } from './stand-in/node-base.ts';

const root = join(import.meta.dirname, '../../..');

export const jobImage = 'model-project-service-test/jobs';

async function baseOfDockerfile(): Promise<string> {
  const text = await readFile(join(root, 'infra/aws/job-image/Dockerfile'), 'utf8');
  const name = /^ARG BASE_IMAGE=(\S+)$/m.exec(text)?.[1];
  if (name === undefined) throw new Error('the Dockerfile names no base image');
  return name;
}

/**
 * Builds the job image, on its real base where that can be had, else on a stand-in, and says which. Returns whether
 * an image registry was of use.
 */
export async function buildJobImage(cache: string): Promise<boolean> {
  const base = await baseOfDockerfile();
  const isThere = succeeds('docker', ['image', 'inspect', base]) || succeeds('docker', ['pull', base]);
  const used = isThere ? base : await standInNodeBase(cache, process.versions.node);
  process.stderr.write(
    isThere ? `Base image: ${base}\n` : `${base} cannot be pulled here; ${used} stands for it.\n`,
  );
  runProgram(process.execPath, [
    join(root, 'infra/aws/job-image/build.ts'),
    ...['--tag', jobImage, '--base-image', used],
  ]);
  return isThere;
}
