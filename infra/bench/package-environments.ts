import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress } from 'node:zlib';
import { packEnvironment } from '../../shared/runner/environment/pack/pack-environment.ts';
import { decompressFrames } from '../../shared/runner/environment/pack/zstd-frames.ts';
import type { ServiceClient } from '../demo/service-client.ts';
import { secondsToEnvironment } from './environment-seconds.ts';
import { type Figure, figure } from './figure.ts';
import { TrainingProject } from './training-project.ts';

/** A set of packages with the size of a real environment: 390 MB, 12,000 files. */
const dependencies = 'numpy\nscipy\nscikit-learn\npandas';

const newProject = (client: ServiceClient): Promise<TrainingProject> =>
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

/** Seconds of packing an environment as it is done, and of one stream of zstd at level 3 with nothing else to do. */
async function packingSeconds(environment: string, data: string) {
  const folder = await mkdtemp(join(data, 'packing-'));
  const within = (name: string) => join(folder, name);
  try {
    const { signal } = new AbortController();
    // Once before, so that both find the files in memory.
    await packEnvironment(environment, within('first.tar.zst'), signal);
    await pipeline(decompressFrames(within('first.tar.zst')), createWriteStream(within('tar')));
    const own = await secondsOf(() => packEnvironment(environment, within('own.tar.zst'), signal));
    const params = { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_checksumFlag]: 1 };
    const tar = createReadStream(within('tar'), { highWaterMark: 2 ** 20 });
    const zstd = createZstdCompress({ chunkSize: 2 ** 20, params });
    const single = await secondsOf(() => pipeline(tar, zstd, createWriteStream(within('single.tar.zst'))));
    return { own, single };
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function environmentIn(projects: string): Promise<string> {
  for (const project of await readdir(projects)) {
    const names = await readdir(join(projects, project));
    const complete = names.find((name) => name.endsWith('.complete'));
    if (complete !== undefined) return join(projects, project, complete.replace(/\.complete$/, ''));
  }
  throw new Error('no environment is complete');
}

/** What a second project saves of the first one's downloads, and what packing on all cores does. From PyPI. */
export async function packageEnvironments(
  client: ServiceClient,
  data: string,
  say: (line: string) => void,
): Promise<Figure[]> {
  say('building an environment of packages');
  const first = await secondsToEnvironment(await newProject(client), 'miss');
  const { own, single } = await packingSeconds(await environmentIn(join(data, 'environments')), data);
  say('building the same for another project');
  const second = await secondsToEnvironment(await newProject(client), 'miss');
  const remark = (one: number, other: number) => `${one.toFixed(1)} s : ${other.toFixed(1)} s`;
  return [
    figure('Second project of the same packages, over the first', second / first, '×', {
      remark: remark(second, first),
      atMost: 0.3,
    }),
    figure('Packing, over one stream of zstd', own / single, '×', {
      remark: remark(own, single),
      atMost: 0.5,
    }),
  ];
}
