import { expect, test } from 'vitest';
import { event as purge } from '../../../functions/events/purge.event.ts';
import { objectWriter } from '../../../shared/aws/objects.ts';
import { s3 } from '../../../shared/aws/s3-client.ts';
import { forSeconds } from '../../../shared/core/deadline.ts';
import { createLogger } from '../../../shared/core/log.ts';
import { readSettings } from '../../../shared/core/settings.ts';
import { findExperiment } from '../../../shared/data/experiments/experiment.ts';
import { loggedModelPartitions, loggedModelPrefix } from '../../../shared/data/experiments/logged-model.ts';
import { countersKey, findProjects, parseCounters } from '../../../shared/data/projects/project.ts';
import { parsePurge, purgeKey, retainedList } from '../../../shared/data/projects/purge.ts';
import type { TableWriter } from '../../../shared/data/table/table.ts';
import { purgeRetained } from '../../../shared/purge/purge-retained.ts';
import { testBucket } from '../../support/emulators.ts';
import { everySample } from '../../support/samples.ts';
import { type TestService, testService } from '../../support/service.ts';
import { mlflowCaller, newRun } from './mlflow-caller.ts';

const newId = () => crypto.randomUUID();
const stored = async ({ environment }: TestService, prefix: string) =>
  (await objectWriter(s3(environment), testBucket).list(prefix)).objects;
const inDays = (days: number) => () => new Date(Date.now() + days * 86_400_000);

async function marked() {
  const service = await testService();
  const caller = mlflowCaller(service, await service.user('developer'));
  const { experiment_id: project_id, run_id } = await newRun(caller);
  const experiment_id = run_id.split('-')[1] ?? '';
  const { records } = service;
  const lines: string[] = [];
  const pass = (days: number, table: TableWriter<'records'> = records) =>
    purgeRetained(
      { records: table, newId, now: inDays(days), log: createLogger('info', (line) => lines.push(line)) },
      forSeconds(30),
    );
  return {
    ...{ service, caller, project_id, run_id, records, pass },
    receipts: () => lines.map((line) => JSON.parse(line)).filter((line) => line.project_id === project_id),
    isThere: async () => (await findExperiment(records, project_id, experiment_id)) !== undefined,
    rows: async () =>
      (await records.query({ pk: retainedList.partitions[0], prefix: 'UNTIL#' })).items.filter(({ sk }) =>
        sk.includes(project_id),
      ),
  };
}

test('a run that a client deleted goes after 30 days, with a receipt, unless it is restored', async () => {
  const { caller, run_id, pass, isThere, receipts, rows, project_id } = await marked();
  await caller.post('runs/delete', { run_id });
  await pass(29.9);
  expect([await isThere(), receipts(), (await rows()).length]).toEqual([true, [], 1]);
  await caller.post('runs/restore', { run_id });
  await pass(30.1);
  expect([await isThere(), receipts(), await rows()]).toEqual([true, [], []]);

  await caller.post('runs/delete', { run_id });
  await pass(30.1);
  expect([await isThere(), await rows()]).toEqual([false, []]);
  expect(receipts()).toMatchObject([{ project_id, objects: 0, bytes: 0 }]);
  expect((await caller.get('runs/get', { run_id })).status).toBe(404);
  const found = await caller.post('runs/search', { experiment_ids: [project_id], run_view_type: 'ALL' });
  expect(found.json.runs).toEqual([]);
});

test('so does a project, with all that is in it', async () => {
  const { caller, project_id, records, pass, receipts } = await marked();
  await caller.post('experiments/delete', { experiment_id: project_id });
  await pass(29.9);
  expect((await findProjects(records, [project_id])).items).toHaveLength(1);
  await pass(30.1);
  expect((await findProjects(records, [project_id])).items).toEqual([]);
  expect(receipts()).toMatchObject([{ project_id, experiment_id: null }]);
});

/** A table whose process dies before, or after, its write of this number. */
function dyingAt(records: TableWriter<'records'>, number: number, after: boolean) {
  let writes = 0;
  const write: TableWriter<'records'>['write'] = async (...all) => {
    writes += 1;
    if (writes > number || (writes === number && !after)) throw new Error('killed');
    await records.write(...all);
    if (writes === number) throw new Error('killed');
  };
  return {
    table: new Proxy(records, { get: (of, name) => (name === 'write' ? write : Reflect.get(of, name)) }),
  };
}

test('a pass that dies at any write is made good by the next one', async () => {
  for (const kind of ['run', 'project']) {
    for (const number of [1, 2, 3]) {
      for (const after of [false, true]) {
        const { caller, project_id, run_id, records, pass, isThere, rows } = await marked();
        if (kind === 'run') await caller.post('runs/delete', { run_id });
        else await caller.post('experiments/delete', { experiment_id: project_id });
        await pass(30.1, dyingAt(records, number, after).table).catch(() => undefined);
        await pass(31);
        expect(await rows()).toEqual([]);
        if (kind === 'run') expect(await isThere()).toBe(false);
        else expect((await findProjects(records, [project_id])).items).toEqual([]);
        const { items } = await records.query({ pk: purgeKey('').pk });
        const purges = items
          .map(parsePurge)
          .filter(({ target, project_id: whole }) =>
            kind === 'run'
              ? target.prefixes.some((prefix) => prefix.includes(run_id.split('-')[1] ?? ''))
              : whole === project_id,
          );
        expect(purges).toHaveLength(1);
      }
    }
  }
});

test.runIf(everySample)(
  'so does a logged model, with its files and what the project counts of them',
  async () => {
    for (const [number, after] of [
      [1, false],
      [1, true],
      [2, false],
      [2, true],
      [3, false],
      [0, false],
    ] as const) {
      const { service, caller, project_id, records, pass, receipts, rows } = await marked();
      const made = await caller.post('logged-models', { experiment_id: project_id, name: 'tree' });
      const { model_id } = made.json.model.info;
      const key = { pk: loggedModelPartitions(project_id)[0] ?? '', sk: model_id.split('-').at(-1) };
      const files = `api/2.0/mlflow-artifacts/artifacts/${project_id}/models/${model_id}/artifacts`;
      for (const name of ['a', 'b', 'deep/c'])
        expect((await caller.call('PUT', `${files}/${name}`, { body: name })).status).toBe(200);
      const counted = async () => parseCounters((await records.get(countersKey(project_id)))!);
      expect(await counted()).toMatchObject({ objects: 3, bytes: 8 });
      expect((await caller.call('DELETE', `api/2.0/mlflow/logged-models/${model_id}`)).status).toBe(200);
      await pass(29.9);
      expect([await records.get(key), (await rows()).length]).toEqual([expect.anything(), 1]);
      if (number > 0) await pass(30.1, dyingAt(records, number, after).table).catch(() => undefined);
      await pass(31);
      expect([await records.get(key), await rows()]).toEqual([undefined, []]);
      expect(await counted()).toMatchObject({ objects: 0, bytes: 0 });
      if (number === 0)
        expect(receipts()).toMatchObject([{ project_id, model_id: key.sk, objects: 3, bytes: 8 }]);
      await purge.run(undefined, {
        ...{ accounts: service.accounts, records, keys: service.accounts, batch: undefined as never },
        objects: objectWriter(s3(service.environment), testBucket),
        settings: readSettings(service.environment),
        now: inDays(32),
        log: createLogger('error', () => undefined),
      } as never);
      const left = await Promise.all(
        loggedModelPartitions(project_id).map(async (pk) => (await records.query({ pk })).items),
      );
      expect(left).toEqual([[], []]);
      expect(await stored(service, loggedModelPrefix(project_id, key.sk))).toEqual([]);
    }
  },
);

test('a row of a later release is set aside, and keeps no other from its turn', async () => {
  const { caller, run_id, records, pass, isThere, rows } = await marked();
  await caller.post('runs/delete', { run_id });
  const [row] = await rows();
  const earlier = { ...row!, sk: 'UNTIL#2026-01-01T00:00:00.000Z#later#', schema_version: 99 };
  await records.write({ put: earlier });
  await pass(30.1);
  await pass(30.1);
  expect(await isThere()).toBe(false);
  expect(await records.get({ pk: earlier.pk, sk: earlier.sk })).toMatchObject({
    set_aside_at: expect.any(String),
    set_aside_reason: expect.stringContaining('newer'),
  });
});
