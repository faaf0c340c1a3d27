import { mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  artifactObject,
  changeArtifacts,
  findArtifact,
  listArtifacts,
} from '../../../../shared/data/experiments/artifact.ts';
import { JobError } from '../../../../shared/runner/job/job-error.ts';
import { OutputUploader } from '../../../../shared/runner/outputs/upload/output-uploader.ts';
import {
  type Restoration,
  restoreCheckpoints,
} from '../../../../shared/runner/training/restore-checkpoints.ts';
import { type LeasedExperiment, leasedExperiment } from '../leased-experiment.ts';

const isRoot = process.getuid?.() === 0;
let ids = 0;

describe('checkpoints of an earlier attempt', () => {
  let place: LeasedExperiment;
  let base: string;
  let before: string;
  let folder: string;

  beforeEach(async () => {
    place = await leasedExperiment();
    base = await mkdtemp(join(tmpdir(), 'checkpoints-'));
    before = join(base, 'before');
    folder = join(base, 'now');
    await mkdir(join(before, 'step-2', 'shards'), { recursive: true });
    await mkdir(folder);
    await writeFile(join(before, 'latest'), 'step-2');
    await writeFile(join(before, 'step-2', 'shards', '0.pt'), 'weights');
    await writeFile(join(before, 'step-2', 'empty'), '');
    await uploader(before).finish();
  });
  afterEach(() => rm(base, { recursive: true, force: true }));

  const uploader = (from: string, options: { maxBytes?: number } = {}) =>
    new OutputUploader({
      ...place,
      folder: from,
      kind: 'checkpoint',
      newId: () => {
        ids += 1;
        return `id-${ids}`;
      },
      now: () => new Date(),
      say: () => undefined,
      maxBytes: 1e9,
      maxProjectBytes: 1e9,
      onLimit: () => undefined,
      ...options,
    });
  const restore = (options: Partial<Restoration> = {}) =>
    restoreCheckpoints({ ...place, folder, ...options });
  const listed = async () =>
    (await listArtifacts(place.records, place.experiment.experiment_id, { after: undefined }, 'checkpoint'))
      .items;

  test('are no artifacts, and are counted apart from them', async () => {
    const { experiment_id } = place.experiment;
    expect(await findArtifact(place.records, experiment_id, 'latest')).toBeUndefined();
    expect((await listArtifacts(place.records, experiment_id, { after: undefined })).items).toEqual([]);
    expect(await place.counts()).toEqual({
      artifacts: 0,
      artifact_bytes: 0,
      checkpoints: 3,
      checkpoint_bytes: 13,
      objects: 3,
      bytes: 13,
      stored: 3,
      storedBytes: 13,
    });
  });

  test('are put back where they were', async () => {
    expect(await restore()).toBe(3);
    expect(await readFile(join(folder, 'latest'), 'utf8')).toBe('step-2');
    expect(await readFile(join(folder, 'step-2', 'shards', '0.pt'), 'utf8')).toBe('weights');
    expect(await readFile(join(folder, 'step-2', 'empty'), 'utf8')).toBe('');
  });

  test('that are put back are not uploaded again, and go when the command removes them', async () => {
    await restore();
    const first = await listed();
    const one = uploader(folder);
    one.start();
    await one.finish();
    expect(await listed()).toEqual(first);
    const next = uploader(folder);
    await next.finish();
    await rm(join(folder, 'step-2'), { recursive: true });
    await next.finish();
    expect((await listed()).map(({ path }) => path)).toEqual(['latest']);
    expect(await place.counts()).toMatchObject({
      checkpoints: 1,
      checkpoint_bytes: 6,
      objects: 1,
      bytes: 6,
      stored: 1,
    });
  });

  test.runIf(isRoot)('belong to the user of the job', async () => {
    await restore({ user: { uid: 54_321, gid: 54_322 } });
    for (const path of ['latest', 'step-2', 'step-2/shards', 'step-2/shards/0.pt']) {
      expect(await stat(join(folder, path))).toMatchObject({ uid: 54_321, gid: 54_322 });
    }
  });

  test('never leave the folder through a link that lies in wait', async () => {
    await mkdir(join(base, 'victim'));
    await writeFile(join(base, 'victim', 'file'), 'untouched');
    await symlink('../victim/file', join(folder, 'latest'));
    expect(await restore()).toBe(3);
    expect(await readFile(join(base, 'victim', 'file'), 'utf8')).toBe('untouched');
    expect(await readFile(join(folder, 'latest'), 'utf8')).toBe('step-2');
    await rm(join(folder, 'step-2'), { recursive: true });
    await symlink('../victim', join(folder, 'step-2'));
    await expect(restore()).rejects.toThrow(JobError);
    await expect(stat(join(base, 'victim', 'shards'))).rejects.toThrow('ENOENT');
  });

  test('whose bytes are not those that were stored fail the job', async () => {
    const [latest] = await listed();
    await place.objects.put(latest!.object, Buffer.from('damage'), 'text/plain');
    await expect(restore()).rejects.toThrow('The stored checkpoint "latest" is missing or damaged.');
  });

  test.each(['../evil', '/etc/evil', 'a//b', 'a/./b', ''])('with the path %j are refused', async (path) => {
    const object = artifactObject(
      place.experiment.project_id,
      place.experiment.experiment_id,
      'evil',
      'checkpoint',
    );
    const value = {
      path,
      size: 4,
      sha256: 'a'.repeat(64),
      media_type: 'text/plain',
      object,
      created_at: new Date().toISOString(),
    };
    await changeArtifacts(place.records, { ...place, kind: 'checkpoint', maxProjectBytes: 1e9 }, [
      { path, value, previous: undefined },
    ]);
    await expect(restore()).rejects.toThrow(
      `The path of the stored checkpoint ${JSON.stringify(path)} is not valid.`,
    );
  });
});
