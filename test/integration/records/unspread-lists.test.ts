import { ulid } from 'ulid';
import { expect, test } from 'vitest';
import { endpoint as createProject } from '../../../functions/projects/projects/create-project.endpoint.ts';
import { endpoint as deleteProject } from '../../../functions/projects/projects/delete-project.endpoint.ts';
import { endpoint as listProjects } from '../../../functions/projects/projects/list-projects.endpoint.ts';
import { endpoint as readProject } from '../../../functions/projects/projects/read-project.endpoint.ts';
import { readSettings } from '../../../shared/core/settings.ts';
import { experimentJob, experimentKey, putExperiment } from '../../../shared/data/experiments/experiment.ts';
import { findUnfinished, putUnfinished, unfinishedKey } from '../../../shared/data/jobs/job.ts';
import { shareKey } from '../../../shared/data/jobs/vcpu-shares.ts';
import { spreadId, spreadLists } from '../../../shared/data/lists/spread-list.ts';
import { compressionKey } from '../../../shared/data/models/compression.ts';
import { projectKey, createProject as storeProject } from '../../../shared/data/projects/project.ts';
import { beginJob } from '../../../shared/jobs/job-slots.ts';
import { reconcileAll } from '../../../shared/jobs/reconciliation.ts';
import { experimentOf } from '../../support/experiment.ts';
import { projectOf } from '../../support/project.ts';
import { emptyBatch } from '../../support/recorded-jobs.ts';
import { testService } from '../../support/service.ts';
import { heldVcpus, unfinishedOf } from '../../support/unfinished.ts';

const oldId = () => ulid().toLowerCase();

test('records of releases that did not spread their lists lie where those wrote them', () => {
  const id = oldId();
  expect(projectKey(id)).toEqual({ pk: 'PROJECTS', sk: id });
  expect(unfinishedKey(id)).toEqual({ pk: 'UNFINISHED_JOBS', sk: id });
  expect(compressionKey('prune', id)).toEqual({ pk: 'STRATEGIES#prune', sk: id });
});

test('records of lists that are spread lie over all partitions', () => {
  const partitions = new Set(Array.from({ length: 400 }, () => projectKey(spreadId(oldId())).pk));
  expect([...partitions].sort()).toEqual(Array.from({ length: 8 }, (_, part) => `PROJECTS#${part}`));
  const id = spreadId(oldId());
  expect(id).toMatch(/^[0-7][0-9a-hjkmnp-tv-z]{25}$/);
  expect(spreadId(id)).toBe(id);
});

test('what an earlier release wrote is listed, read, counted, ended and deleted beside what is new', async () => {
  const service = await testService({ LIMIT_VCPUS: '4' });
  const { records } = service;
  await spreadLists(records);
  const settings = readSettings(service.environment);
  const developer = await service.user('developer');
  const project_id = oldId();
  await storeProject(records, {
    ...projectOf(project_id),
    project_name: 'old',
    owner: developer.user.username,
    owner_id: developer.user.user_id,
  });
  const experiment = {
    ...experimentOf(project_id, null),
    batch_job_id: 'b',
    vcpus: 3,
    limit_share: 0,
  };
  const { experiment_id, user_id } = experiment;
  await records.write(
    putExperiment(experiment),
    putUnfinished(experimentJob(experiment)),
    {
      update: shareKey(0),
      change: {
        set: { record_type: 'limit-share', schema_version: 0, limit: 4 },
        add: { capacity: 4, free: 1, changes: 1 },
      },
    },
    { put: { pk: 'LIMITS', sk: `USER#${user_id}`, record_type: 'limit', schema_version: 0, unfinished: 1 } },
    {
      update: { pk: `COUNTERS#${project_id}`, sk: 'COUNTERS' },
      change: { add: { experiments: 1, unfinished: 1 } },
    },
  );
  const query = {
    'project-name': 'new',
    'project-description': 'd',
    'project-type': 't',
    'project-task': 't',
  };
  const made = await service.call(createProject, { query, as: developer });
  const listed = await service.call(listProjects, { as: developer });
  expect(listed.json.map((row: { project_id: string }) => row.project_id)).toEqual([
    made.json.project_id,
    project_id,
  ]);
  expect((await service.call(readProject, { path: { project_id }, as: developer })).status).toBe(200);

  const next = { ...experimentOf(project_id, null), experiment_id: spreadId(oldId()), user_id, vcpus: 2 };
  const begin = () => beginJob(records, experimentJob(next), settings.limits, [putExperiment(next)]);
  await expect(begin()).rejects.toMatchObject({ limit: 'vcpus' });
  expect(await findUnfinished(records, experiment_id)).toMatchObject({ limit_share: 0 });
  await reconcileAll({ records, batch: emptyBatch, settings, now: () => new Date() });
  expect(await records.get(experimentKey(project_id, experiment_id))).toMatchObject({ status: 'FAILED' });
  expect(await unfinishedOf(records)).toEqual([]);
  expect(await records.get({ pk: 'LIMITS', sk: `USER#${user_id}` })).toMatchObject({ unfinished: 0 });
  expect(await heldVcpus(records)).toBe(0);
  await begin();
  const deleted = await service.call(deleteProject, { path: { project_id }, as: developer });
  expect(deleted.status, deleted.text).toBe(200);
  expect((await service.call(listProjects, { as: developer })).json).toHaveLength(1);
});
