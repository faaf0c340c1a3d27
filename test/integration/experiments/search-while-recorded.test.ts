import { expect, test } from 'vitest';
import { endpoint as create } from '../../../functions/experiments/records/create-experiment.endpoint.ts';
import { readCatalogue } from '../../../shared/data/experiments/catalogue.ts';
import { foldCatalogue, repairCatalogue } from '../../../shared/data/experiments/fold-catalogue.ts';
import { readProjects, searchExperiments } from '../../../shared/data/experiments/search-experiments.ts';
import { countersKey } from '../../../shared/data/projects/project.ts';
import type { TableWriter } from '../../../shared/data/table/table.ts';
import { testService } from '../../support/service.ts';
import { newProject } from '../projects/new-project.ts';
import { json } from '../users/body.ts';

async function projectOfThree() {
  const service = await testService();
  const as = await service.user('developer');
  const project_id = await newProject(service, as);
  const record = async () =>
    (await service.call(create, { path: { project_id }, as, ...json({}) })).json.experiment_id as string;
  const ids = [await record(), await record(), await record()];
  return { records: service.records, project_id, record, ids };
}

test('a search finds what is recorded between its read of the marks and its read of the counters, and repairs nothing', async () => {
  const { records, project_id, record, ids } = await projectOfThree();
  // The first fold completes the catalogue: no release without one has recorded any.
  await foldCatalogue(records, project_id, { milliseconds: 0, least: 1 });
  const marked = Promise.withResolvers<void>();
  const written: unknown[] = [];
  let between: string | undefined;
  const interrupted: TableWriter<'records'> = {
    ...records,
    async query(query) {
      const page = await records.query(query);
      if (query.prefix === 'TAIL#') marked.resolve();
      return page;
    },
    async get(key) {
      if (key.pk === countersKey(project_id).pk && between === undefined) {
        await marked.promise;
        between = await record();
      }
      return records.get(key);
    },
    async write(...writes) {
      written.push(...writes);
      return records.write(...writes);
    },
  };
  const { rows } = await searchExperiments(interrupted, [project_id], {});
  expect(rows.map(({ experiment_id }) => experiment_id).toSorted()).toEqual([...ids, between].toSorted());
  expect(written).toEqual([]);
});

test('a repair leaves alone what was recorded since the catalogue was read', async () => {
  const { records, project_id, record, ids } = await projectOfThree();
  await foldCatalogue(records, project_id, { milliseconds: 0, least: 1 });
  const catalogue = await readCatalogue(records, project_id);
  if (catalogue === undefined) throw new Error('the catalogue is not complete');
  ids.push(await record());
  await repairCatalogue(records, project_id, catalogue, ids, ids.length);
  const after = await readCatalogue(records, project_id);
  expect(after?.rows.map(({ experiment_id }) => experiment_id).toSorted()).toEqual(ids.toSorted());
  expect(after?.manifest.state).toEqual(catalogue.manifest.state);
});

/** One whose catalogue nobody has completed: recording folds where an id ends with 0. */
async function projectWithoutCatalogue() {
  for (;;) {
    const project = await projectOfThree();
    if ((await readCatalogue(project.records, project.project_id)) === undefined) return project;
  }
}

test('rows are read without a write, also where the catalogue is to be completed afterwards', async () => {
  const { records, project_id, ids } = await projectWithoutCatalogue();
  const unwritable: TableWriter<'records'> = {
    ...records,
    write: () => Promise.reject(new Error('this was to be a read')),
  };
  const [project] = await readProjects(unwritable, [project_id]);
  expect(project?.rows.map(({ experiment_id }) => experiment_id).toSorted()).toEqual(ids.toSorted());
  await expect(project?.fold?.(unwritable)).rejects.toThrow('this was to be a read');
});
