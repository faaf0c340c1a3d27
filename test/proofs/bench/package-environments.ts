import { createWriteStream } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress } from 'node:zlib';
import type { Client } from '../../../shared/client/client.ts';
import { packEnvironment, tarBlocks } from '../../../shared/runner/environment/pack/pack-environment.ts';
import { secondsToEnvironment } from './environment-seconds.ts';
import { type Figure, figure } from './figure.ts';
import { TrainingProject } from './training-project.ts';

/** A set of packages with the size of a real environment: 390 MB, 12,000 files. */
const dependencies = 'numpy\nscipy\nscikit-learn\npandas';

const newProject = (client: Client): Promise<TrainingProject> =>
  TrainingProject.create(client, {
    command: 'python train.py',
    files: { 'train.py': 'import sklearn\n' },
    env_type: 'python',
    dependencies,
  });

async function secondsOf(act: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await act();
  return (performance.now() - begun) / 1000;
}

const repeats = 3;

/**
 * Seconds of packing an environment as it is done, and as one core does it: the same files through one stream of zstd at
 * level 3. The least of several runs each, in turns, because other work of the machine only adds to them.
 */
async function packingSeconds(environment: string, data: string) {
  const folder = await mkdtemp(join(data, 'packing-'));
  const within = (name: string) => join(folder, name);
  const { signal } = new AbortController();
  const params = { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_checksumFlag]: 1 };
  const pack = (name: string) => packEnvironment(environment, within(name), signal);
  const packOnOneCore = (name: string) => {
    const zstd = createZstdCompress({ chunkSize: 2 ** 20, params });
    return pipeline(tarBlocks(environment), zstd, createWriteStream(within(name)));
  };
  const seconds = { own: [] as number[], single: [] as number[] };
  try {
    // Once before, so that all find the files in memory.
    await pack('first');
    for (let round = 0; round < repeats; round += 1) {
      seconds.own.push(await secondsOf(() => pack(`own-${round}`)));
      seconds.single.push(await secondsOf(() => packOnOneCore(`single-${round}`)));
    }
    return { own: Math.min(...seconds.own), single: Math.min(...seconds.single) };
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The environment of a project that has one. */
async function environmentIn(folder: string): Promise<string> {
  const complete = (await readdir(folder)).find((name) => name.endsWith('.complete'));
  if (complete === undefined) throw new Error('no environment is complete');
  return join(folder, complete.replace(/\.complete$/, ''));
}

/** What a second project saves of the first one's downloads, and what packing on all cores does. From PyPI. */
export async function packageEnvironments(
  client: Client,
  data: string,
  say: (line: string) => void,
): Promise<Figure[]> {
  say('building an environment of packages');
  const project = await newProject(client);
  const first = await secondsToEnvironment(project, 'miss');
  const environment = await environmentIn(join(data, 'environments', project.project_id));
  const { own, single } = await packingSeconds(environment, data);
  say('building the same for another project');
  const second = await secondsToEnvironment(await newProject(client), 'miss');
  const remark = (one: number, other: number) => `${one.toFixed(1)} s : ${other.toFixed(1)} s`;
  return [
    figure('Second project of the same packages, over the first', second / first, '×', {
      remark: remark(second, first),
      atMost: 0.3,
    }),
    figure('Packing it, over one core', own / single, '×', {
      remark: remark(own, single),
      atMost: 0.5,
    }),
  ];
}
