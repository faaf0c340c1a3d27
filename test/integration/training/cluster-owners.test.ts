import { expect, test } from 'vitest';
import { event as purge } from '../../../functions/events/purge.event.ts';
import { endpoint as cancelExperiment } from '../../../functions/experiments/records/cancel-experiment.endpoint.ts';
import { endpoint as listExperiments } from '../../../functions/experiments/search/list-experiments.endpoint.ts';
import { endpoint as deleteProject } from '../../../functions/projects/projects/delete-project.endpoint.ts';
import { endpoint as train } from '../../../functions/projects/training/train-project.endpoint.ts';
import { endpoint as trainRemote } from '../../../functions/projects/training/train-project-remote.endpoint.ts';
import { claimCluster, clusterClaimKey } from '../../../shared/data/jobs/cluster-claim.ts';
import { ConditionFailedError } from '../../../shared/data/table/write-label.ts';
import { taskHandler } from '../../../shared/http/definition/task.ts';
import type { Answer, TestUser } from '../../support/service.ts';
import { trainingService } from '../../support/training.ts';
import { trainableProject } from '../projects/trainable-project.ts';

/** Clusters are accepted and wait. */
const full = { queues: ['train', 'gpu', 'cluster'].map((name) => ({ name, maxJobs: 0 })) };

/** A deployment with two owners, each with a project. */
async function twoOwners(variables: Readonly<Record<string, string>> = {}) {
  const service = await trainingService(full, variables);
  const [ada, ben] = [await service.user('developer'), await service.user('developer')];
  const projects = { ada: await trainableProject(service, ada), ben: await trainableProject(service, ben) };
  const cluster = (project_id: string, as: TestUser) =>
    service.call(trainRemote, { path: { project_id }, as });
  const claimed = async () => (await service.records.get(clusterClaimKey))?.['clusters'];
  const cancel = (project_id: string, experiment_id: string, as: TestUser) =>
    service.call(cancelExperiment, { path: { project_id, experiment_id }, as });
  return { service, ada, ben, projects, cluster, claimed, cancel };
}

/** A cluster that waits. */
const waits = { status: 200, json: { status: 'CREATED', place_in_line: expect.any(Number) } };

test('clusters of one owner run at a time, whoever starts them; another owner waits until they have ended', async () => {
  const { service, ada, ben, projects, cluster, claimed, cancel } = await twoOwners();
  const admin = await service.user('admin');
  const first = await cluster(projects.ada, ada);
  expect(first.status, first.text).toBe(200);
  const second = await cluster(projects.ada, admin);
  expect(second.status).toBe(200);
  const his = await cluster(projects.ben, ben);
  expect(his).toMatchObject(waits);
  // The code is that of the project's owner, also where an admin starts it.
  expect(await cluster(projects.ben, admin)).toMatchObject(waits);
  const query = { config: 'train.yaml' };
  const other = await service.call(train, { path: { project_id: projects.ben }, query, as: ben });
  expect(other.status).toBe(200);

  await cancel(projects.ada, first.json.experiment_id, ada);
  await service.ended(projects.ada, first.json.experiment_id).catch(() => undefined);
  expect(await service.records.get(clusterClaimKey)).toMatchObject({
    clusters: 1,
    owner_id: ada.user.user_id,
  });
  await cancel(projects.ada, second.json.experiment_id, ada);
  await expect.poll(claimed).toBe(2);
  expect(await service.records.get(clusterClaimKey)).toMatchObject({ owner_id: ben.user.user_id });
  expect(await cluster(projects.ada, ada)).toMatchObject(waits);
});

test('of owners that begin at the same moment one alone gets the cluster, and each is counted once', async () => {
  const { service, ada, ben, projects, cluster, claimed } = await twoOwners();
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      index % 2 === 0 ? cluster(projects.ada, ada) : cluster(projects.ben, ben),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
  const list = async (project_id: string, as: TestUser): Promise<Answer['json'][]> =>
    (await service.call(listExperiments, { path: { project_id }, as })).json;
  const begun = async () => {
    const lists = [await list(projects.ada, ada), await list(projects.ben, ben)];
    return lists.map((experiments) => experiments.filter((one) => one.place_in_line === null).length);
  };
  await expect.poll(async () => (await begun()).filter((count) => count > 0)).toHaveLength(1);
  // Those of that owner that stand in line may still get their places.
  const differing = async () =>
    (await begun()).reduce((sum, count) => sum + count, 0) - Number(await claimed());
  await expect.poll(differing).toBe(0);
  expect(await claimed()).toBeGreaterThan(0);
});

test('with sharedCluster owners share it; without it again, all of them end first', async () => {
  const { service, ada, ben, projects, cluster, cancel } = await twoOwners({ SHARED_CLUSTER: 'yes' });
  const [one, other] = [await cluster(projects.ada, ada), await cluster(projects.ben, ben)];
  expect([one.status, other.status]).toEqual([200, 200]);
  const claim = await service.records.get(clusterClaimKey);
  expect(claim).toMatchObject({ clusters: 2, owner_id: 'everybody' });
  const alone = service.records.write(...claimCluster({ cluster_owner: '0'.repeat(26) }, false));
  await expect(alone).rejects.toBeInstanceOf(ConditionFailedError);
  await cancel(projects.ada, one.json.experiment_id, ada);
  await cancel(projects.ben, other.json.experiment_id, ben);
  await expect.poll(async () => (await service.records.get(clusterClaimKey))?.['clusters']).toBe(0);
});

test('a project that is deleted gives the cluster back', async () => {
  const { service, ada, ben, projects, cluster, claimed } = await twoOwners();
  expect((await cluster(projects.ada, ada)).status).toBe(200);
  await service.call(deleteProject, { path: { project_id: projects.ada }, as: ada });
  await taskHandler(purge, service.environment)(undefined);
  await expect.poll(claimed).toBe(0);
  expect((await cluster(projects.ben, ben)).status).toBe(200);
});

test('the reconciler frees a cluster whose record is gone, and corrects a count that no job accounts for', async () => {
  const { service, ada, ben, projects, cluster, claimed, cancel } = await twoOwners();
  const { json } = await cluster(projects.ada, ada);
  await service.records.write({
    delete: { pk: `EXPERIMENTS#${projects.ada}`, sk: json.experiment_id },
    if: { exists: true },
  });
  const his = await cluster(projects.ben, ben);
  expect(his).toMatchObject(waits);
  await service.reconcile();
  expect(await service.records.get(clusterClaimKey)).toMatchObject({
    clusters: 1,
    owner_id: ben.user.user_id,
  });
  await cancel(projects.ben, his.json.experiment_id, ben);
  await expect.poll(claimed).toBe(0);
  // A release that knows nothing of the claim ended a job, say.
  const again = await cluster(projects.ada, ada);
  expect(again.status).toBe(200);
  await service.records.write({ update: clusterClaimKey, change: { add: { clusters: 2, changes: 1 } } });
  await service.reconcile();
  expect(await claimed()).toBe(1);
});
