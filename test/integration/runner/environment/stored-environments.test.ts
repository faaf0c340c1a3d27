import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findPack, packObject } from '../../../../shared/data/projects/environment.ts';
import { listPurges, recordPurge } from '../../../../shared/data/projects/purge.ts';
import { runPurge } from '../../../../shared/purge/run-purge.ts';
import { storedEnvironments } from '../../../../shared/runner/environment/stored-environments.ts';
import { type LeasedExperiment, leasedExperiment } from '../leased-experiment.ts';

const key = 'a'.repeat(64);
const hour = 3_600_000;
const start = Date.now();

let place: LeasedExperiment;
let folder: string;
let clock: number;
beforeEach(async () => {
  place = await leasedExperiment();
  folder = await mkdtemp(join(tmpdir(), 'packs-'));
  clock = start;
});
afterEach(() => rm(folder, { recursive: true }));

const project = () => place.experiment.project_id;
const store = (holder: string) =>
  storedEnvironments(place.records, place.objects, project(), holder, () => new Date(clock));

async function pack(bytes: string) {
  const file = join(folder, 'pack');
  await writeFile(file, bytes);
  return { file, lock: bytes, lockHash: 'b'.repeat(64), buildSeconds: 1 };
}

async function purge(): Promise<boolean> {
  const purge_id = place.experiment.experiment_id;
  const created_at = new Date(clock).toISOString();
  const target = { partitions: [], prefixes: [], packs_of: project() };
  const value = { purge_id, created_at, target, again_at: null };
  await place.records.write(recordPurge(value));
  return runPurge(place.records, place.objects, value, () => true, undefined, new Date(clock));
}

const head = () => place.objects.head(packObject(project(), key));

test('a claim on a build ends by itself, also where the clock was set back meanwhile', async () => {
  expect(await store('one').claimBuild(key)).toMatchObject({ claimed: true });
  clock += 60_000;
  expect(await store('other').claimBuild(key)).toEqual({ claimed: false });
  clock -= hour;
  expect(await store('other').claimBuild(key)).toMatchObject({ claimed: true });
  clock += 121_000;
  expect(await store('third').claimBuild(key)).toMatchObject({ claimed: true });
  for (const holder of ['one', 'other', 'third']) await store(holder).releaseBuild(key, holder);
});

test('a builder whose claim was taken over stores nothing', async () => {
  const one = store('one');
  await one.claimBuild(key);
  clock += 200_000;
  await store('other').claimBuild(key);
  await expect(one.save(key, await pack('late'))).rejects.toThrow('condition');
  expect(await head()).toBeUndefined();
  await store('other').save(key, await pack('good'));
  expect(await findPack(place.records, project(), key)).toMatchObject({ lock: 'good', bytes: 4 });
  await store('other').releaseBuild(key, 'other');
});

test('a pack that is gone is built anew, and counted as large as it is then', async () => {
  const one = store('one');
  await one.claimBuild(key);
  await one.save(key, await pack('first'));
  expect(await place.counts()).toMatchObject({ objects: 1, bytes: 5 });
  await place.objects.delete([packObject(project(), key)]);
  await expect(one.download(key, join(folder, 'into'))).rejects.toMatchObject({ code: 'pack-refused' });
  await one.save(key, await pack('the second'));
  expect(await place.counts()).toMatchObject({ objects: 1, bytes: 10 });
  await one.releaseBuild(key, 'one');
});

test('what a dead builder has uploaded is removed, once its claim has ended; what is recorded stays', async () => {
  const one = store('one');
  await one.claimBuild(key);
  await place.objects.put(packObject(project(), key), Buffer.of(1), 'application/zstd');
  expect(await purge()).toBe(false);
  expect(await head()).toBeDefined();
  clock += 130_000;
  expect(await purge()).toBe(true);
  expect(await head()).toBeUndefined();
  // An upload URL is no reason to look again, but a builder that was only slow may be.
  expect((await listPurges(place.records, undefined)).items).toHaveLength(1);
  await one.claimBuild(key);
  await one.save(key, await pack('good'));
  expect(await purge()).toBe(true);
  expect(await head()).toBeDefined();
  await one.releaseBuild(key, 'one');
});
