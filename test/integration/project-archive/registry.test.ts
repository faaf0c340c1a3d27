import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ulid } from 'ulid';
import { expect, test } from 'vitest';
import { putExperiment } from '../../../shared/data/experiments/experiment.ts';
import {
  findRegisteredModel,
  listModelVersions,
  listRegisteredModels,
  modelVersions,
  removeRegisteredModel,
} from '../../../shared/data/models/registered-model.ts';
import {
  createProject,
  newProjectId,
  requireProject,
  updateProject,
} from '../../../shared/data/projects/project.ts';
import { findExport, findImport } from '../../../shared/data/projects/project-archives.ts';
import { findByName } from '../../../shared/mlflow/projects/find-project.ts';
import { artifactUriOf, runIdOf } from '../../../shared/mlflow/protocol/ids.ts';
import { experimentOf } from '../../support/experiment.ts';
import { everySample } from '../../support/samples.ts';
import { testService } from '../../support/service.ts';
import {
  type ArchiveLab,
  archiveLab,
  beginImporting,
  dyingAt,
  exported,
  imported,
  passOverImport,
} from './archive-lab.ts';
import { recordRegistered } from './recorded-registry.ts';

/** A deployment of its own, with a developer. */
async function deployment(): Promise<ArchiveLab> {
  const service = await testService();
  return archiveLab(service, (await service.user('developer')).user);
}

const at = '2026-02-03T04:05:06.007Z';

/** A project with one trained experiment. */
async function recordTrained({ records, user }: ArchiveLab) {
  const project_id = await newProjectId(records, ulid().toLowerCase());
  const { user_id: owner_id, username: owner } = user;
  const project_name = 'Digits';
  const texts = { project_description: 'Reads', project_type: 'image', project_task: 'classification' };
  await createProject(records, {
    ...{ project_id, project_name, ...texts, owner, owner_id },
    ...{ created_at: at, updated_at: at, version: 1 },
  });
  const experiment = { ...experimentOf(project_id, 0.5), user_id: owner_id, stopped_at: at };
  await records.write(putExperiment(experiment));
  return { project_id, experiment_id: experiment.experiment_id };
}

async function namesOf({ records }: ArchiveLab): Promise<string[]> {
  return (await listRegisteredModels(records, {})).items.map(({ name }) => name);
}

test('registered models arrive with the versions of the project, aliases and tags', async () => {
  const [here, there] = [await deployment(), await deployment()];
  const run = await recordTrained(here);
  await recordRegistered(
    here,
    'digits',
    [
      { number: 1, stage: 'None', run: undefined },
      { number: 2, stage: 'Staging', run },
      { number: 5, stage: 'Production', run },
    ],
    { champion: 5, other: 1 },
  );
  await recordRegistered(here, 'foreign', [{ number: 1, stage: 'None', run: undefined }], {});
  const archive = await exported(here, run.project_id);
  expect([run.project_id, run.experiment_id].filter((id) => archive.includes(id))).toEqual([]);
  const { status, project_id, renamed } = await imported(there, archive);
  expect([status, renamed]).toEqual(['SUCCEEDED', []]);
  expect(await namesOf(there)).toEqual(['digits']);
  const model = await findRegisteredModel(there.records, 'digits');
  expect(model).toMatchObject({
    owner_id: there.user.user_id,
    aliases: { champion: 5 },
    latest: { Staging: 2, Production: 5 },
    versions: 5,
    tags: { team: 'vision' },
  });
  const { items } = await listModelVersions(there.records, model?.registration_id, {});
  const [experiment] = (await there.records.query({ pk: `EXPERIMENTS#${project_id}` })).items;
  const key = { project_id, experiment_id: String(experiment?.sk) };
  expect(items).toMatchObject(
    [2, 5].map((number) => ({
      number,
      username: here.user.username,
      run_id: runIdOf(key),
      location: `${artifactUriOf(key)}/model`,
      tags: { made_by: runIdOf(key), checked: 'yes' },
    })),
  );
  expect((await exported(there, project_id)).equals(archive)).toBe(true);
});

test('a name that is taken stays with its owner; the import says which name a model has instead', async () => {
  const here = await deployment();
  const run = await recordTrained(here);
  const registration = await recordRegistered(here, 'digits', [{ number: 1, stage: 'None', run }], {});
  const archive = await exported(here, run.project_id);
  const other = archiveLab(here.service, (await here.service.user('developer')).user);
  const { import_id, renamed, project_id } = await imported(other, archive);
  const registered_as = `digits-${import_id.slice(-8)}`;
  expect(renamed).toEqual([{ name: 'digits', registered_as }]);
  expect(await namesOf(here)).toEqual(['digits', registered_as]);
  expect((await findRegisteredModel(here.records, 'digits'))?.registration_id).toBe(registration);
  expect((await findRegisteredModel(here.records, registered_as))?.owner_id).toBe(other.user.user_id);
  expect((await exported(other, project_id)).equals(archive)).toBe(true);
});

test('a project whose name its new owner has is renamed, and says so; its archive has the first name', async () => {
  const here = await deployment();
  const { project_id } = await recordTrained(here);
  const archive = await exported(here, project_id);
  const { import_id, project_renamed, project_id: copy } = await imported(here, archive);
  const imported_as = `Digits-${import_id.slice(-8)}`;
  expect(project_renamed).toEqual({ name: 'Digits', imported_as });
  const finding = { records: here.records, caller: here.user };
  expect((await findByName(finding, 'Digits'))?.project_id).toBe(project_id);
  expect((await findByName(finding, imported_as))?.project_id).toBe(copy);
  expect((await exported(here, copy)).equals(archive)).toBe(true);
  await updateProject(
    here.records,
    await requireProject(here.records, copy),
    { project_name: 'Mine' },
    new Date(),
  );
  const renamed = await exported(here, copy);
  const there = await deployment();
  const { project_id: moved } = await imported(there, renamed);
  expect((await requireProject(there.records, moved)).project_name).toBe('Mine');
});

test('a model that took another’s name of the archive is told from it in the next one', async () => {
  const here = await deployment();
  const run = await recordTrained(here);
  await recordRegistered(here, 'digits', [{ number: 1, stage: 'None', run }], {});
  const { project_id } = await imported(here, await exported(here, run.project_id));
  const first = await findRegisteredModel(here.records, 'digits');
  if (first === undefined) throw new Error('it is gone');
  await here.records.write(removeRegisteredModel(first));
  const [experiment] = (await here.records.query({ pk: `EXPERIMENTS#${project_id}` })).items;
  const again = { project_id, experiment_id: String(experiment?.sk) };
  await recordRegistered(here, 'digits', [{ number: 1, stage: 'None', run: again }], {});
  const archive = await exported(here, project_id);
  const there = await deployment();
  const { status, status_reason } = await imported(there, archive);
  expect([status, status_reason]).toEqual(['SUCCEEDED', null]);
  expect(await namesOf(there)).toHaveLength(2);
});

test('a failed import leaves no registered model and no version', async () => {
  const here = await deployment();
  const run = await recordTrained(here);
  for (const name of ['a', 'b', 'c'])
    await recordRegistered(here, name, [{ number: 1, stage: 'None', run }], {});
  const archive = await exported(here, run.project_id);
  const there = await deployment();
  const sha256 = await beginImporting(there, archive);
  // The name stays free of the first: what takes the place of the second fails each time.
  await recordRegistered(there, 'b', [{ number: 1, stage: 'None', run: undefined }], {});
  const { import_id } = (await findImport(there.records, there.user.user_id, sha256)) ?? { import_id: '' };
  const second = `b-${import_id.slice(-8)}`;
  await recordRegistered(there, second, [{ number: 1, stage: 'None', run: undefined }], {});
  const { status, status_reason } = await passOverImport(there, sha256);
  expect([status, status_reason]).toEqual([
    'FAILED',
    `The names b and ${second} are already taken in this deployment.`,
  ]);
  expect(await namesOf(there)).toEqual(['b', second]);
  const versions = await there.records.query({ pk: modelVersions });
  const purges = (await there.records.query({ pk: 'PURGES' })).items;
  const purged = JSON.stringify(purges);
  const left = versions.items.filter(({ sk }) => !purged.includes(`${sk.split('#')[0]}#`));
  expect(left).toHaveLength(2);
});

test.runIf(everySample)(
  'an import that is killed before any write of the registry records each model once',
  async () => {
    const here = await deployment();
    const run = await recordTrained(here);
    for (const name of ['a', 'b'])
      await recordRegistered(here, name, [{ number: 3, stage: 'None', run }], {});
    const archive = await exported(here, run.project_id);
    for (let call = 8; ; call += 1) {
      const there = await deployment();
      const sha256 = await beginImporting(there, archive);
      const dying = dyingAt(there, call);
      await passOverImport(dying.lab, sha256).catch(() => undefined);
      const { status, project_id, renamed } = await passOverImport(there, sha256);
      expect([call, status, renamed, await namesOf(there)]).toEqual([call, 'SUCCEEDED', [], ['a', 'b']]);
      expect((await exported(there, project_id)).equals(archive)).toBe(true);
      if (!dying.died()) break;
    }
  },
);

test('the receipt of an export names what it leaves out', async () => {
  const here = await deployment();
  const { project_id } = await recordTrained(here);
  const running = experimentOf(project_id, null);
  await here.records.write(putExperiment(running));
  await exported(here, project_id);
  expect(await findExport(here.records, project_id)).toMatchObject({
    left_out: 1,
    unfinished: [running.experiment_id],
    members: 0,
  });
});

test('an archive that the release before the registry wrote still opens', async () => {
  const there = await deployment();
  const file = join(import.meta.dirname, '../../fixtures/project-archives/format-1.zip');
  const { status, status_reason, project_id } = await imported(there, readFileSync(file));
  expect([status, status_reason]).toEqual(['SUCCEEDED', null]);
  const again = await exported(there, project_id);
  const second = await imported(there, again);
  expect((await exported(there, second.project_id)).equals(again)).toBe(true);
});
