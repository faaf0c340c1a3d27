import { beforeAll, describe, expect, test } from 'vitest';
import { endpoint as deleteExperiments } from '../../../functions/experiments/records/delete-experiments.endpoint.ts';
import { endpoint as readExperiment } from '../../../functions/experiments/records/read-experiment.endpoint.ts';
import { endpoint as restoreExperiments } from '../../../functions/experiments/records/restore-experiments.endpoint.ts';
import { endpoint as listExperiments } from '../../../functions/experiments/search/list-experiments.endpoint.ts';
import { endpoint as listProjects } from '../../../functions/projects/projects/list-projects.endpoint.ts';
import { endpoint as markProjectDeleted } from '../../../functions/projects/projects/mark-project-deleted.endpoint.ts';
import { endpoint as readProject } from '../../../functions/projects/projects/read-project.endpoint.ts';
import { endpoint as restoreProject } from '../../../functions/projects/projects/restore-project.endpoint.ts';
import { endpoint as updateProject } from '../../../functions/projects/projects/update-project.endpoint.ts';
import { forSeconds } from '../../../shared/core/deadline.ts';
import { createLogger } from '../../../shared/core/log.ts';
import { putExperiment } from '../../../shared/data/experiments/experiment.ts';
import { count } from '../../../shared/data/projects/project.ts';
import { purgeRetained } from '../../../shared/purge/purge-retained.ts';
import { experimentOf } from '../../support/experiment.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { newProject } from '../projects/new-project.ts';
import { json } from '../users/body.ts';

let service: TestService;
let as: TestUser;

beforeAll(async () => {
  service = await testService();
  as = await service.user('developer');
});

async function projectWith(count_: number, status: 'SUCCEEDED' | 'RUNNING' = 'SUCCEEDED') {
  const project_id = await newProject(service, as);
  const ids: string[] = [];
  for (let number = 0; number < count_; number += 1) {
    const ended = experimentOf(project_id, number / 10);
    const one = status === 'RUNNING' ? { ...ended, status, status_rank: 3 } : ended;
    await service.records.write(
      putExperiment(one),
      count(project_id, { experiments: 1, ...(status === 'RUNNING' && { unfinished: 1 }) }),
    );
    ids.push(one.experiment_id);
  }
  return { project_id, ids };
}

const listed = async (project_id: string, query: Record<string, string> = {}): Promise<string[]> => {
  const answer = await service.call(listExperiments, { path: { project_id }, query, as });
  return answer.json.map(({ experiment_id }: { experiment_id: string }) => experiment_id).sort();
};
const ask = (
  endpoint: typeof deleteExperiments | typeof restoreExperiments,
  project_id: string,
  experiment_ids: readonly string[],
) => service.call(endpoint, { path: { project_id }, as, ...json({ experiment_ids }) });
/** The purge of what was marked, so many days from now. */
const purgeIn = (days: number) =>
  purgeRetained(
    {
      records: service.records,
      newId: () => crypto.randomUUID(),
      now: () => new Date(Date.now() + days * 86_400_000),
      log: createLogger('error', () => {}),
    },
    forSeconds(30),
  );

describe('experiments that are deleted together', () => {
  test('leave every list but that of the deleted ones, and come back whole', async () => {
    const { project_id, ids } = await projectWith(3);
    const [one = '', two = '', three = ''] = ids;

    const answer = await ask(deleteExperiments, project_id, [one, two, two]);

    expect(answer.json).toMatchObject({ deleted: [one, two], unfinished: [], missing: [] });
    const days = (Date.parse(answer.json.until) - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(29.9);
    expect(days).toBeLessThanOrEqual(30);
    expect(await listed(project_id)).toEqual([three]);
    expect(await listed(project_id, { order_by: 'name' })).toEqual([three]);
    expect(await listed(project_id, { deleted: 'true' })).toEqual([one, two].sort());
    expect(await listed(project_id, { deleted: 'true', filter: "name = 'nothing'" })).toEqual([]);
    const path = { project_id, experiment_id: one };
    expect((await service.call(readExperiment, { path, as })).json.deleted_at).toMatch(/^\d{4}-/);

    expect((await ask(restoreExperiments, project_id, [one, two])).json).toEqual({
      restored: [one, two],
      missing: [],
    });
    expect(await listed(project_id)).toEqual([...ids].sort());
    expect((await service.call(readExperiment, { path, as })).json.deleted_at).toBeNull();
  });

  test('may be deleted and restored twice, and are named where they do not exist or have not ended', async () => {
    const { project_id, ids } = await projectWith(1);
    const { ids: others } = await projectWith(1);
    const running = await projectWith(1, 'RUNNING');
    const [id = ''] = ids;

    for (let time = 0; time < 2; time += 1)
      expect((await ask(deleteExperiments, project_id, [id, ...others])).json).toMatchObject({
        deleted: [id],
        missing: others,
      });
    for (let time = 0; time < 2; time += 1)
      expect((await ask(restoreExperiments, project_id, [id, ...others])).json).toEqual({
        restored: [id],
        missing: others,
      });
    expect((await ask(deleteExperiments, running.project_id, running.ids)).json).toMatchObject({
      deleted: [],
      unfinished: running.ids,
    });
    expect(await listed(running.project_id)).toEqual(running.ids);
  });

  test('are gone after 30 days, unless they were restored', async () => {
    const { project_id, ids } = await projectWith(2);
    const [one = '', two = ''] = ids;
    await ask(deleteExperiments, project_id, ids);
    await ask(restoreExperiments, project_id, [two]);

    await purgeIn(30.1);

    expect(await listed(project_id)).toEqual([two]);
    expect((await ask(restoreExperiments, project_id, [one])).json).toEqual({ restored: [], missing: [one] });
  });

  test('are at least one and at most 100, by their IDs', async () => {
    const { project_id } = await projectWith(0);
    for (const ids of [[], ['nothing'], Array.from({ length: 101 }, () => '0'.repeat(26))])
      expect((await ask(deleteExperiments, project_id, ids)).status, String(ids.length)).toBe(400);
  });
});

describe('a project that is deleted', () => {
  const mark = (project_id: string) => service.call(markProjectDeleted, { path: { project_id }, as });
  const restore = (project_id: string) => service.call(restoreProject, { path: { project_id }, as });
  const projects = async (query: Record<string, string> = {}): Promise<string[]> => {
    const answer = await service.call(listProjects, { query: { member: 'true', ...query }, as });
    return answer.json.map(({ project_id }: { project_id: string }) => project_id);
  };

  test('leaves the list, can be read but not changed, and comes back with everything in it', async () => {
    const { project_id, ids } = await projectWith(2);
    const path = { project_id };

    const marked = await mark(project_id);

    expect(marked.json).toMatchObject({ project_id, until: expect.any(String) });
    expect((await mark(project_id)).json).toEqual(marked.json);
    expect(await projects()).not.toContain(project_id);
    expect(await projects({ deleted: 'true' })).toEqual([project_id]);
    expect((await service.call(readProject, { path, as })).json.deleted_at).toMatch(/^\d{4}-/);
    const changed = await service.call(updateProject, { path, as, ...json({ project_name: 'other' }) });
    expect(changed.status).toBe(403);
    expect(changed.json.detail).toContain('is deleted. Restore it');

    expect((await restore(project_id)).json).toMatchObject({ project_id, deleted_at: null });
    expect((await restore(project_id)).status).toBe(200);
    expect(await projects()).toContain(project_id);
    expect(await listed(project_id)).toEqual([...ids].sort());
    expect((await service.call(updateProject, { path, as, ...json({ project_name: 'other' }) })).status).toBe(
      200,
    );
  });

  test('has no training that goes on', async () => {
    const { project_id } = await projectWith(1, 'RUNNING');

    const refused = await mark(project_id);

    expect(refused.status).toBe(409);
    expect(refused.json.detail).toContain('has 1 training that has not ended. Cancel it');
    expect(await projects()).toContain(project_id);
  });

  test('is gone after 30 days', async () => {
    const { project_id } = await projectWith(1);
    await mark(project_id);

    await purgeIn(30.1);

    expect((await service.call(readProject, { path: { project_id }, as })).status).toBe(404);
  });
});
