import { describe, expect, test } from 'vitest';
import { event as jobStateChanged } from '../../../functions/events/job-state-changed.event.ts';
import { event as purge } from '../../../functions/events/purge.event.ts';
import { event as reconcile } from '../../../functions/events/reconcile.event.ts';
import { endpoint as readExperiment } from '../../../functions/experiments/records/read-experiment.endpoint.ts';
import { endpoint as listExperiments } from '../../../functions/experiments/search/list-experiments.endpoint.ts';
import { endpoint as deleteProject } from '../../../functions/projects/projects/delete-project.endpoint.ts';
import { endpoint as readProject } from '../../../functions/projects/projects/read-project.endpoint.ts';
import { endpoint as deleteUser } from '../../../functions/users/delete-user.endpoint.ts';
import { foldCatalogue } from '../../../shared/data/experiments/fold-catalogue.ts';
import { userLimitKey } from '../../../shared/data/jobs/job.ts';
import { lineKey } from '../../../shared/data/jobs/waiting-line.ts';
import { taskHandler } from '../../../shared/http/definition/task.ts';
import { everySample } from '../../support/samples.ts';
import { heldVcpus, unfinishedOf } from '../../support/unfinished.ts';
import { begun, deployment, standing } from './line-deployment.ts';

describe('jobs of one user beyond the limit', () => {
  test('wait in line, say where they stand, and start in order as places become free', async () => {
    const { owner, service, lines } = await deployment({ LIMIT_UNFINISHED_JOBS: '2' });
    const ada = await owner();
    const ids = [];
    for (let count = 0; count < 6; count += 1) ids.push(await ada.train());
    const [first = '', second = '', third = '', fourth = '', fifth = '', sixth = ''] = ids;
    expect(await ada.read(third)).toMatchObject(standing(1, '2 of your jobs run; this is first in line.'));
    expect(await ada.read(fifth)).toMatchObject(standing(3, '2 of your jobs run; this is third in line.'));
    // Those that wait hold nothing.
    expect(await unfinishedOf(service.records)).toHaveLength(2);
    expect(await heldVcpus(service.records)).toBe(2);
    const listed = await service.call(listExperiments, { path: { project_id: ada.project_id }, as: ada.as });
    expect(listed.json.map(({ place_in_line }: { place_in_line: number }) => place_in_line)).toEqual(
      [4, 3, 2, 1, null, null], // newest first
    );
    // Those that wait are in a segment of the catalogue, which those that leave the line outdate.
    await foldCatalogue(service.records, ada.project_id, { milliseconds: 0, least: 1 });
    await foldCatalogue(service.records, ada.project_id, { milliseconds: 0, least: 1 });

    await ada.cancel(first);
    await ada.isBegun(third);
    expect(await ada.read(third)).toMatchObject({ begun_at: expect.any(String) });
    expect(await ada.read(fifth)).toMatchObject(standing(2));
    // One that leaves the line in the middle lets the others move up.
    expect((await ada.cancel(fourth)).json).toMatchObject({ status: 'CANCELLED', place_in_line: null });
    expect(await ada.read(fifth)).toMatchObject(standing(1));
    expect(await ada.read(sixth)).toMatchObject(standing(2));
    await ada.cancel(second);
    await ada.cancel(third);
    await ada.isBegun(fifth);
    await ada.isBegun(sixth);
    expect(await lines()).toEqual([]);
    expect(await service.records.get(lineKey(ada.as.user.user_id))).toBeUndefined();
    const project = await service.call(readProject, { path: { project_id: ada.project_id }, as: ada.as });
    expect(project.json).toMatchObject({ experiments: 6 });
    const cancelled = { path: { project_id: ada.project_id }, query: { filter: 'status = "CANCELLED"' } };
    expect((await service.call(listExperiments, { ...cancelled, as: ada.as })).json).toHaveLength(4);
    expect(await service.records.get(userLimitKey(ada.as.user.user_id))).toMatchObject({ unfinished: 2 });
  });

  test('are refused where as many wait as may, and none is lost of those that come at once', async () => {
    const { owner } = await deployment({ LIMIT_UNFINISHED_JOBS: '1', LIMIT_WAITING_JOBS: '9' });
    const ada = await owner();
    const ids = await Promise.all(Array.from({ length: 10 }, () => ada.train()));
    const detail = expect.stringContaining('You have 9 waiting jobs');
    expect(await ada.refused()).toMatchObject({ status: 409, json: { detail } });
    const read = await Promise.all(ids.map((id) => ada.read(id)));
    const places = read.map(({ place_in_line }) => place_in_line as number | null);
    expect(places.toSorted((one, other) => (one ?? 0) - (other ?? 0))).toEqual([
      null,
      ...Array.from({ length: 9 }, (_, index) => index + 1),
    ]);
  });

  test('can be deleted once they are cancelled, and go with their project', async () => {
    const { owner, service, lines } = await deployment({ LIMIT_UNFINISHED_JOBS: '1' });
    const [ada, ben] = [await owner(), await owner()];
    const [first, second, third] = [await ada.train(), await ada.train(), await ada.train()];
    expect((await ada.remove(second)).status).toBe(409);
    await ada.cancel(second);
    expect((await ada.remove(second)).status).toBe(200);
    expect(await ada.read(third)).toMatchObject(standing(1));
    const other = await ben.train();
    const deleted = await service.call(deleteProject, { path: { project_id: ada.project_id }, as: ada.as });
    expect(deleted.json).toMatchObject({ deleted: { experiments: 2 }, cancelled_jobs: 2 });
    await taskHandler(purge, service.environment)(undefined);
    expect(await lines()).toEqual([]);
    const left = (await unfinishedOf(service.records)).map(({ job_id }) => job_id);
    expect(left).toEqual([other]);
    expect(left).not.toContain(first);
  });

  test('are cancelled with their user', async () => {
    const { owner, service, lines } = await deployment({ LIMIT_UNFINISHED_JOBS: '1' });
    const [ada, admin] = [await owner(), await service.user('admin')];
    const [first, second] = [await ada.train(), await ada.train()];
    const { username } = ada.as.user;
    expect((await service.call(deleteUser, { query: { username }, as: admin })).status).toBe(200);
    await taskHandler(purge, service.environment)(undefined);
    const of = (experiment_id: string) => ({
      path: { project_id: ada.project_id, experiment_id },
      as: admin,
    });
    expect((await service.call(readExperiment, of(first))).json).toMatchObject(begun);
    expect((await service.call(readExperiment, of(second))).json).toMatchObject({
      status: 'CANCELLED',
      status_reason: 'Its user was deleted before it started.',
    });
    expect(await lines()).toEqual([]);
  });

  test('start by themselves while jobs run and end, one after the other, in order', async () => {
    const { service, owner, lines } = await deployment({ LIMIT_UNFINISHED_JOBS: '1' }, {});
    const ada = await owner();
    const ids = [];
    for (let count = 0; count < 4; count += 1) ids.push(await ada.train());
    const ended = [];
    for (const id of ids) ended.push(await service.ended(ada.project_id, id));
    expect(ended.map(({ status }) => status)).toEqual(Array(4).fill('SUCCEEDED'));
    const started = ended.map(({ started_at }) => started_at);
    expect(started.toSorted()).toEqual(started);
    for (const [index, { begun_at }] of ended.entries())
      if (index > 0) expect(begun_at >= ended[index - 1]?.stopped_at).toBe(true);
    expect(await lines()).toEqual([]);
  });
});

test.runIf(everySample)(
  'on one machine another user’s first job goes before the later ones of whose jobs wait already',
  async () => {
    const oneAtOnce = { queues: [{ name: 'train', maxJobs: 1 }] };
    const variables = { JOBS_RUN_AS: 'processes', LIMIT_UNFINISHED_JOBS: '3' };
    const { service, owner } = await deployment(variables, oneAtOnce);
    const [ada, ben] = [await owner(), await owner()];
    const hers = [];
    for (let count = 0; count < 7; count += 1) hers.push(await ada.train());
    const his = await ben.train();
    // It has a place at once, though hers take all that are hers.
    expect(await ben.read(his)).toMatchObject({ place_in_line: null });
    const { started_at } = await service.ended(ben.project_id, his);
    const later = await Promise.all(hers.slice(-3).map((id) => service.ended(ada.project_id, id)));
    for (const one of later) expect(one.started_at >= started_at).toBe(true);
  },
);

describe('jobs beyond the vCPUs of the deployment', () => {
  test('wait, and lines of several users take turns', async () => {
    const { owner } = await deployment({ LIMIT_VCPUS: '2', LIMIT_UNFINISHED_JOBS: '10' });
    const [ada, ben] = [await owner(), await owner()];
    const places = [await ada.train(), await ada.train()];
    const hers = [await ada.train(), await ada.train(), await ada.train()];
    const his = [await ben.train(), await ben.train()];
    expect(await ben.read(his[0] ?? '')).toMatchObject(
      standing(1, 'Waits until 1 of the 2 vCPUs of this deployment is free; this is first in line.'),
    );
    await ada.cancel(places[0] ?? '');
    await ada.cancel(places[1] ?? '');
    await ada.isBegun(hers[0] ?? '');
    expect(await ada.read(hers[1] ?? '')).toMatchObject(standing(1));
    await ben.isBegun(his[0] ?? '');
    await ben.cancel(his[0] ?? '');
    await ada.isBegun(hers[1] ?? '');
  });

  test('a large job is not overtaken by small ones of others, and small ones start with what it leaves', async () => {
    const { owner, lines } = await deployment({ LIMIT_VCPUS: '4', LIMIT_UNFINISHED_JOBS: '10' });
    const [ada, ben] = [await owner(), await owner()];
    const small = await ada.train();
    const large = await ben.train({ vcpus: '4' });
    const late = await ada.train();
    expect(await ben.read(large)).toMatchObject(standing(1));
    expect(await ada.read(late)).toMatchObject(standing(1));
    await ada.cancel(small);
    await ben.isBegun(large);
    expect(await ada.read(late)).toMatchObject(standing(1));
    await ben.cancel(large);
    await ada.isBegun(late);
    expect(await lines()).toEqual([]);
  });

  test('one that asks for more than a lowered limit fails and holds up nobody', async () => {
    const { owner, service } = await deployment({ LIMIT_VCPUS: '4', LIMIT_UNFINISHED_JOBS: '10' });
    const ada = await owner();
    const running = await ada.train({ vcpus: '4' });
    const [waits, next] = [await ada.train({ vcpus: '4' }), await ada.train()];
    const key = { pk: `EXPERIMENTS#${ada.project_id}`, sk: running };
    await service.records.write({ delete: key, if: { exists: true } });
    await taskHandler(reconcile, { ...service.environment, LIMIT_VCPUS: '2' })(undefined);
    expect(await ada.read(waits)).toMatchObject({
      status: 'FAILED',
      status_reason: 'It requests 4 vCPUs, but this deployment now allows 2.',
    });
    await ada.isBegun(next);
  });
});

describe('clusters', () => {
  test('of another owner wait for those that run, and hold up no other jobs', async () => {
    const { owner, lines } = await deployment({ LIMIT_VCPUS: '100' });
    const [ada, ben] = [await owner(), await owner()];
    const hers = await ada.cluster();
    const his = await ben.cluster();
    const reason = expect.stringMatching(
      /^Waits until the clusters of other owners have ended .* first in line/,
    );
    expect(await ben.read(his)).toMatchObject(standing(1, reason));
    await ben.isBegun(await ben.train());
    // She does not go on and on.
    const again = await ada.cluster();
    expect(await ada.read(again)).toMatchObject(standing(1));
    await ada.cancel(hers);
    await ben.isBegun(his);
    expect(await ada.read(again)).toMatchObject(standing(1));
    await ben.cancel(his);
    await ada.isBegun(again);
    expect(await lines()).toEqual([]);
  });
});

describe('whatever is lost', () => {
  test('the reconciler starts who waits when a place became free and nobody heard of it', async () => {
    const { owner, service } = await deployment({ LIMIT_UNFINISHED_JOBS: '1' });
    const ada = await owner();
    const [first, second] = [await ada.train(), await ada.train()];
    // The end of the first, without an event.
    await service.records.write({
      delete: { pk: `EXPERIMENTS#${ada.project_id}`, sk: first },
      if: { exists: true },
    });
    await service.reconcile();
    await service.reconcile();
    await ada.isBegun(second);
  });

  test('a job whose record is gone leaves the line, and those behind it start', async () => {
    const { owner, service, lines } = await deployment({ LIMIT_UNFINISHED_JOBS: '1' });
    const ada = await owner();
    const [first, second, third] = [await ada.train(), await ada.train(), await ada.train()];
    await service.records.write({ delete: { pk: `EXPERIMENTS#${ada.project_id}`, sk: second } });
    await ada.cancel(first);
    await ada.isBegun(third);
    expect(await lines()).toEqual([]);
  });

  test('reads and late events change nothing of a job that waits', async () => {
    const { owner, service } = await deployment({ LIMIT_UNFINISHED_JOBS: '1' });
    const ada = await owner();
    const [first, second] = [await ada.train(), await ada.train()];
    const key = { pk: `EXPERIMENTS#${ada.project_id}`, sk: second };
    const long = { created_at: '2020-01-01T00:00:00.000Z', checked_at: '2020-01-01T00:00:00.000Z' };
    await service.records.write({ update: key, change: { set: long } });
    expect(await ada.read(second)).toMatchObject(standing(1));
    await service.reconcile();
    const detail = { jobId: 'x', jobName: `train-${second}`, status: 'FAILED' };
    await taskHandler(jobStateChanged, service.environment)({ detail });
    expect(await ada.read(second)).toMatchObject(standing(1));
    await ada.cancel(first);
    await ada.isBegun(second);
  });
});
