import { expect } from 'vitest';
import { endpoint as createSweep } from '../../../functions/projects/sweeps/create-sweep.endpoint.ts';
import { createLogger } from '../../../shared/core/log.ts';
import { newId } from '../../../shared/core/new-id.ts';
import { readSettings } from '../../../shared/core/settings.ts';
import { type Experiment, listExperiments } from '../../../shared/data/experiments/experiment.ts';
import { isFinal } from '../../../shared/data/jobs/job-status.ts';
import { requireSweep } from '../../../shared/data/sweeps/sweep.ts';
import type { TableWriter } from '../../../shared/data/table/table.ts';
import type { SweepContext } from '../../../shared/sweeps/trials/advance-sweep.ts';
import { endRun, idleBatch } from '../../support/ended-run.ts';
import { type TestService, testService } from '../../support/service.ts';
import { trainableProject } from '../projects/trainable-project.ts';
import { json } from '../users/body.ts';

/** A sweep of the metric `loss` whose runs have no containers: the test ends them. */
export async function recordedSweep(spec: object) {
  const service: TestService = await testService({
    BATCH_ENDPOINT: 'http://127.0.0.1:9',
    LOG_LEVEL: 'error',
  });
  const { records } = service;
  const as = await service.user('developer');
  const project_id = await trainableProject(service, as);
  const body = json({ config: 'train.yaml', metric: 'loss', ...spec });
  const begun = await service.call(createSweep, { path: { project_id }, as, ...body });
  expect(begun.status, begun.text).toBe(200);
  const { sweep_id } = begun.json;

  const experiments = async () => (await listExperiments(records, project_id, { limit: 1000 })).items;

  return {
    service,
    as,
    path: { project_id, sweep_id },
    read: () => requireSweep(records, project_id, sweep_id),
    experiments,
    running: async () => (await experiments()).filter(({ status }) => !isFinal(status)),
    /** What decisions use; the writer may be one that fails or counts. */
    context: (writer: TableWriter<'records'> = records): SweepContext => ({
      records: writer,
      batch: idleBatch,
      keys: service.accounts,
      settings: readSettings(service.environment),
      now: () => new Date(),
      newId,
      log: createLogger('error', () => {}),
    }),
    /** Ends an experiment as its container does, after it has reported this loss. */
    end: (one: Experiment, loss: number, mortal: TableWriter<'records'> = records) =>
      endRun(records, one, loss, mortal),
  };
}
