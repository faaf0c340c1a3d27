import { expect, test } from 'vitest';
import { endpoint as putConfig } from '../../../functions/projects/configs/put-config.endpoint.ts';
import { endpoint as putEnvironment } from '../../../functions/projects/environment/put-environment.endpoint.ts';
import { endpoint as createSweep } from '../../../functions/projects/sweeps/create-sweep.endpoint.ts';
import type { BatchControl } from '../../../shared/aws/batch.ts';
import { createLogger } from '../../../shared/core/log.ts';
import { newId } from '../../../shared/core/new-id.ts';
import { readSettings } from '../../../shared/core/settings.ts';
import { listExperiments } from '../../../shared/data/experiments/experiment.ts';
import { isFinal } from '../../../shared/data/jobs/job-status.ts';
import { putMetricPart, readMetricParts, withPoints } from '../../../shared/data/metrics/metric-summaries.ts';
import { requireSweep, type Sweep } from '../../../shared/data/sweeps/sweep.ts';
import { allRuns } from '../../../shared/data/sweeps/sweep-run.ts';
import type { TableWriter } from '../../../shared/data/table/table.ts';
import { concludeJob } from '../../../shared/jobs/conclusion.ts';
import { suggest } from '../../../shared/sweeps/suggest.ts';
import { resultsAt } from '../../../shared/sweeps/trial-results.ts';
import { specOf } from '../../../shared/sweeps/trials/advance-sweep.ts';
import { takeAllTurns } from '../../../shared/sweeps/trials/take-turns.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { testService } from '../../support/service.ts';
import { newProject } from '../projects/new-project.ts';
import { json } from '../users/body.ts';

const trials = 20;
const parallel = 3;

test('a sweep whose processes are killed at drawn writes begins each trial once', async () => {
  const random = seededRandom(43);
  const service = await testService({ BATCH_ENDPOINT: 'http://127.0.0.1:9', LOG_LEVEL: 'error' });
  const { records } = service;
  const as = await service.user('developer');
  const project_id = await newProject(service, as);
  const path = { project_id };
  await service.call(putConfig, { path: { ...path, config_id: 'train.yaml' }, body: 'lr: 1\n', as });
  const command = { entry_point_command: 'true', env_type: 'system', dependencies: 'none' };
  await service.call(putEnvironment, { path, query: command, as });
  const begun = await service.call(createSweep, {
    path,
    as,
    ...json({
      config: 'train.yaml',
      metric: 'loss',
      method: 'tpe',
      seed: 7,
      trials,
      parallel,
      parameters: { lr: { min: 0.001, max: 1, scale: 'log' } },
    }),
  });
  expect(begun.status, begun.text).toBe(200);
  const { sweep_id } = begun.json;

  /** A process that dies before or after one of its writes, in one of four cases. */
  const mortal = (): TableWriter<'records'> => {
    let writes = random() < 0.6 ? Math.floor(random() * 3) : Number.POSITIVE_INFINITY;
    const isAfter = random() < 0.5;
    return {
      ...records,
      async write(...all) {
        writes -= 1;
        if (writes < 0 && !isAfter) throw new Error('killed before the write');
        await records.write(...all);
        if (writes < 0) throw new Error('killed after the write');
      },
    };
  };
  const batch: BatchControl = {
    submit: async ({ name }) => `b-${name}`,
    terminate: async () => {},
    describe: async () => [],
    findByName: async () => undefined,
  };
  const settings = readSettings(service.environment);
  const log = createLogger('error', () => {});
  const decide = () =>
    takeAllTurns(
      { records: mortal(), batch, keys: service.accounts, settings, now: () => new Date(), newId, log },
      () => true,
    );
  const experiments = async () => (await listExperiments(records, project_id, { limit: 1000 })).items;

  /** Ends one of the running experiments as its container does; the container may die, too. */
  async function endOne(sweep: Sweep): Promise<void> {
    const running = (await experiments()).filter(({ status }) => !isFinal(status));
    const one = running[Math.floor(random() * running.length)];
    if (one === undefined) return;
    const row = (await allRuns(records, sweep)).find(({ run }) => run === one.sweep?.run);
    const { lr } = JSON.parse(row?.params ?? '{}');
    const point = { name: 'loss', value: Math.log10(lr / 0.03) ** 2, step: 1, time: Date.now() };
    const { parts } = withPoints(await readMetricParts(records, project_id, one.experiment_id), [point]);
    await records.write(
      ...parts.map((part, index) => putMetricPart(project_id, one.experiment_id, index, part)),
    );
    await concludeJob(mortal(), one, { status: 'SUCCEEDED', reason: null }, new Date()).catch(
      () => undefined,
    );
  }

  let most = 0;
  for (;;) {
    const sweep = await requireSweep(records, project_id, sweep_id);
    if (sweep.status !== 'RUNNING') break;
    most = Math.max(most, (await experiments()).filter(({ status }) => !isFinal(status)).length);
    if (random() < 0.6) await endOne(sweep);
    // Events come twice, and at once.
    await Promise.allSettled(random() < 0.3 ? [decide(), decide()] : [decide()]);
  }

  const sweep = await requireSweep(records, project_id, sweep_id);
  const rows = await allRuns(records, sweep);
  const all = await experiments();
  expect(sweep).toMatchObject({ status: 'COMPLETED', counts: { complete: trials } });
  expect(most).toBe(parallel);
  expect(all.map((one) => one.sweep?.run).sort((one, other) => (one ?? 0) - (other ?? 0))).toEqual(
    Array.from({ length: trials }, (_, run) => run),
  );
  const search = { ...specOf(sweep), goal: sweep.criterion.goal };
  for (const { trial, params, tries } of rows) {
    const saw = resultsAt(rows, 1, tries[0]?.begun).filter((result) => result.trial < trial);
    expect(suggest(search, trial, saw)).toEqual(JSON.parse(params));
  }
});
