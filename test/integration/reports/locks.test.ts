import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { endpoint as createExperiment } from '../../../functions/experiments/records/create-experiment.endpoint.ts';
import { endpoint as deleteExperiment } from '../../../functions/experiments/records/delete-experiment.endpoint.ts';
import { endpoint as updateExperiment } from '../../../functions/experiments/records/update-experiment.endpoint.ts';
import { endpoint as createReport } from '../../../functions/projects/reports/create-report.endpoint.ts';
import { endpoint as deleteReport } from '../../../functions/projects/reports/delete-report.endpoint.ts';
import { endpoint as readReportBlock } from '../../../functions/projects/reports/read-report-block.endpoint.ts';
import { endpoint as deleteSweep } from '../../../functions/projects/sweeps/delete-sweep.endpoint.ts';
import { dynamoDb } from '../../../shared/aws/dynamodb-client.ts';
import { newId } from '../../../shared/core/new-id.ts';
import { requireProject } from '../../../shared/data/projects/project.ts';
import { requireReport } from '../../../shared/data/projects/report.ts';
import { replaceSweep, type Sweep } from '../../../shared/data/sweeps/sweep.ts';
import type { TableWriter, Write } from '../../../shared/data/table/table.ts';
import { storeReport } from '../../../shared/reports/store-report.ts';
import { testService } from '../../support/service.ts';
import { mlflowCaller, newRun } from '../mlflow/mlflow-caller.ts';
import { newProject } from '../projects/new-project.ts';
import { recordedSweep } from '../sweeps/recorded-sweep.ts';
import { json } from '../users/body.ts';

const block = (kind: string, ...lines: string[]) => `\`\`\`mps ${kind}\n${lines.join('\n')}\n\`\`\`\n`;
const grid = { method: 'grid', parallel: 1, parameters: { lr: { values: [1, 2] } } };

test('a sweep that a report shows goes on, and is deleted after the report', async () => {
  const { service, as, path, read, running, end } = await recordedSweep(grid);
  const { project_id, sweep_id } = path;
  const text = ['sweep', 'table', 'chart']
    .map((kind) => block(kind, `sweep: ${sweep_id}`, ...(kind === 'chart' ? ['metric: loss'] : [])))
    .join('');
  const ask = (
    endpoint: Parameters<typeof service.call>[0],
    ids: Record<string, string>,
    more: object = {},
  ) => service.call(endpoint, { as, path: { project_id, ...ids }, ...more });
  const [first] = await running();
  if (first !== undefined) await end(first, 0.5);

  const { json: made } = await ask(createReport, {}, json({ title: 'Rates', text }));
  const { report_id } = made;
  const shown = [];
  for (const number of ['1', '2', '3'])
    shown.push((await ask(readReportBlock, { report_id, block: number })).json.data);
  const refused = await ask(deleteSweep, { sweep_id });
  await ask(deleteReport, { report_id });
  const deleted = await ask(deleteSweep, { sweep_id });

  expect(shown).toMatchObject([
    { kind: 'sweep', trials: 2, metric: 'loss' },
    { kind: 'table', rows: [{ run: { experiment_id: first?.experiment_id } }] },
    { kind: 'chart', charts: [{ metric: 'loss' }], complete: true },
  ]);
  expect([refused.status, refused.json.detail]).toEqual([409, expect.stringContaining('"Rates"')]);
  expect(deleted.status).toBe(200);
  await expect(read()).rejects.toThrow();
});

describe('a report of a sweep that changes at the same moment', () => {
  async function stored(change: Partial<Sweep>) {
    const { service, path, read } = await recordedSweep(grid);
    const { project_id, sweep_id } = path;
    const { records, accounts } = service;
    let writes = 0;
    const contended: TableWriter<'records'> = Object.create(records, {
      write: {
        value: async (...items: readonly Write[]) => {
          const sweep = await read();
          writes += 1;
          if (writes === 1) await records.write(replaceSweep(sweep, { ...sweep, ...change }, new Date()));
          await records.write(...items);
        },
      },
    });
    const [report_id, at] = [newId(), new Date().toISOString()];
    const storing = storeReport(
      { records: contended, accounts, now: () => new Date() },
      await requireProject(records, project_id),
      { report_id, title: 'Busy', updated_by: newId(), created_at: at, version: 1 },
      { text: block('sweep', `sweep: ${sweep_id}`) },
    );
    const find = () => requireReport(records, { project_id, report_id });
    return { storing, sweep_id, read, find, writes: () => writes };
  }

  test('is stored', async () => {
    const { storing, sweep_id, read, find, writes } = await stored({});

    await storing;

    expect((await find()).report.sweeps).toEqual([sweep_id]);
    expect([writes(), (await read()).reports]).toEqual([2, 1]);
  });

  test('is a conflict if that deletes the sweep', async () => {
    const { storing, find } = await stored({ deleting: 'sweep' });

    await expect(storing).rejects.toMatchObject({ kind: 'conflict' });

    await expect(find()).rejects.toMatchObject({ kind: 'not-found' });
  });
});

test('the deletion of an experiment that a report begins to show is a conflict', async () => {
  const service = await testService();
  const as = await service.user('developer');
  const project_id = await newProject(service, as);
  const made = await service.call(createExperiment, { as, path: { project_id }, ...json({}) });
  const { experiment_id } = made.json;
  await service.call(updateExperiment, {
    as,
    path: { project_id, experiment_id },
    ...json({ status: 'SUCCEEDED' }),
  });
  const client = dynamoDb(service.environment);
  const { send } = client;
  const spy = vi.spyOn(client, 'send');
  onTestFinished(() => spy.mockRestore());
  spy.mockImplementation(async (command: object, ...more) => {
    if (command instanceof TransactWriteCommand) {
      spy.mockImplementation(send);
      const text = block('table', `experiments: ${experiment_id}`);
      await service.call(createReport, { as, path: { project_id }, ...json({ title: 'Late', text }) });
    }
    return Reflect.apply(send, client, [command, ...more]);
  });

  const refused = await service.call(deleteExperiment, { as, path: { project_id, experiment_id } });

  expect([refused.status, refused.json.detail]).toEqual([409, expect.stringContaining('"Late"')]);
});

test('a client of MLflow cannot delete a run that a report shows', async () => {
  const service = await testService();
  const as = await service.user('developer');
  const caller = mlflowCaller(service, as);
  const { experiment_id: project_id, run_id } = await newRun(caller);
  const text = block('table', `experiments: ${run_id.split('-')[1]}`);
  const made = await service.call(createReport, {
    as,
    path: { project_id },
    ...json({ title: 'Kept', text }),
  });

  const refused = await caller.post('runs/delete', { run_id });
  const run = await caller.get('runs/get', { run_id });
  await service.call(deleteReport, { as, path: { project_id, report_id: made.json.report_id } });
  const deleted = await caller.post('runs/delete', { run_id });

  expect(refused.status, refused.text).toBeGreaterThanOrEqual(400);
  expect(refused.text).toContain('Kept');
  expect(run.json.run.info.lifecycle_stage).toBe('active');
  expect(deleted.status).toBe(200);
});
