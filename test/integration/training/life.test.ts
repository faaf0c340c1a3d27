import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { event as purge } from '../../../functions/events/purge.event.ts';
import { endpoint as cancelExperiment } from '../../../functions/experiments/records/cancel-experiment.endpoint.ts';
import { endpoint as deleteExperiment } from '../../../functions/experiments/records/delete-experiment.endpoint.ts';
import { endpoint as readEnvironment } from '../../../functions/projects/environment/read-environment.endpoint.ts';
import { endpoint as deleteProject } from '../../../functions/projects/projects/delete-project.endpoint.ts';
import { endpoint as readProject } from '../../../functions/projects/projects/read-project.endpoint.ts';
import { endpoint as train } from '../../../functions/projects/training/train-project.endpoint.ts';
import { taskHandler } from '../../../shared/http/definition/task.ts';
import { findProcesses } from '../../../shared/process/process-tree.ts';
import { type TrainingService, trainingService, uploadSource } from '../../support/training.ts';
import { unfinishedOf } from '../../support/unfinished.ts';

const begin = async (service: TrainingService, project_id: string, more: Record<string, string> = {}) => {
  const query = { config: 'train.yaml', ...more };
  const answer = await service.call(train, { path: { project_id }, query, as: service.developer });
  expect(answer.status, answer.text).toBe(200);
  return answer.json.experiment_id as string;
};

/** Ignores SIGTERM, has a grandchild in a session of its own that does so too. */
const stubborn = `
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, lambda *_: print('saving', flush=True))
if len(sys.argv) == 1:
    subprocess.Popen([sys.executable, sys.argv[0], 'child'], start_new_session=True)
print('ready', flush=True)
while True: time.sleep(0.1)
`;

import { everySample } from '../../support/samples.ts';

describe('the life of a training', () => {
  test.each([
    [
      'sh -c "echo out; exit 7"',
      { status: 'FAILED', exit_code: 7, status_reason: 'The command ended with exit code 7.' },
    ],
    ['sh -c "kill -SEGV $$"', { status: 'FAILED', signal: 'SIGSEGV' }],
    [
      'no-such-program --x',
      { status: 'FAILED', status_reason: expect.stringContaining('no-such-program: not found in PATH') },
    ],
  ])('of %s ends as its command does', async (command, expected) => {
    const service = await trainingService();
    const project_id = await service.project({ command });
    const experiment = await service.ended(project_id, await begin(service, project_id));
    expect(experiment, await service.log(project_id, experiment.experiment_id)).toMatchObject(expected);
  });

  test.runIf(everySample)('is ended at its timeout, and the reason says so', async () => {
    const service = await trainingService();
    const project_id = await service.project({ command: 'sleep 600' });
    const experiment = await service.ended(project_id, await begin(service, project_id, { timeout: '1' }));
    expect(experiment).toMatchObject({
      status: 'FAILED',
      status_reason: 'The command was stopped at its timeout of 1 s.',
    });
  });

  test('is cancelled while it runs: SIGTERM first, then its whole process tree is killed', async () => {
    const service = await trainingService({}, { STOP_GRACE_SECONDS: '1' });
    const project_id = await service.project({
      command: 'python3 stubborn.py',
      files: { 'stubborn.py': stubborn },
    });
    const experiment_id = await begin(service, project_id);
    const path = { project_id, experiment_id };
    while (!(await service.log(project_id, experiment_id)).includes('ready'))
      await service.until(project_id, experiment_id, () => true);
    const record = await service.records.get({ pk: `EXPERIMENTS#${project_id}`, sk: experiment_id });
    const tree = { marker: { name: 'AWS_BATCH_JOB_ID', value: String(record?.['batch_job_id']) } };
    expect((await findProcesses(tree)).length).toBeGreaterThanOrEqual(2);
    const cancelled = await service.call(cancelExperiment, { path, as: service.developer });
    expect(cancelled.status).toBe(200);
    const experiment = await service.ended(project_id, experiment_id);
    expect(experiment).toMatchObject({
      status: 'CANCELLED',
      status_reason: `Cancelled by ${service.developer.user.username}. It did not stop in time and was killed.`,
    });
    expect(await service.log(project_id, experiment_id)).toContain('saving');
    // The supervisor writes down how it ended before it ends.
    await expect.poll(() => findProcesses(tree)).toEqual([]);
    const again = await service.call(cancelExperiment, { path, as: service.developer });
    expect(again.status).toBe(200);
    expect(again.json.status).toBe('CANCELLED');
  });

  test('is refused by its archive, with the entry named', async () => {
    const service = await trainingService();
    const project_id = await service.project({ command: 'true' });
    const { hostileTar } = await import('./hostile-tar.ts');
    await uploadSource(service, service.developer, project_id, hostileTar('../escape'));
    const experiment = await service.ended(project_id, await begin(service, project_id));
    expect(experiment).toMatchObject({
      status: 'FAILED',
      status_reason: expect.stringContaining('../escape'),
    });
  });

  test.runIf(everySample)(
    'of dependencies that do not resolve fails with the resolver’s own words',
    async () => {
      const service = await trainingService({}, { PIP_NO_INDEX: '1' });
      const project_id = await service.project({
        command: 'python3 -c pass',
        env_type: 'python',
        dependencies: 'no-such-package-of-ours==1.0',
      });
      const experiment = await service.ended(project_id, await begin(service, project_id));
      expect(experiment).toMatchObject({
        status: 'FAILED',
        status_reason: expect.stringContaining('no-such-package-of-ours'),
      });
      const { json } = await service.call(readEnvironment, { path: { project_id }, as: service.developer });
      expect(json.lock_hash).toBeNull();
    },
  );

  test('that has ended can be deleted, and nothing of it remains', async () => {
    const service = await trainingService();
    const project_id = await service.project({ command: 'sh -c "echo x > $OUTPUT_DIR/x"' });
    const experiment_id = await begin(service, project_id);
    const experiment = await service.ended(project_id, experiment_id);
    expect(experiment.artifacts, await service.log(project_id, experiment_id)).toBe(1);
    const path = { project_id, experiment_id };
    const deleted = await service.call(deleteExperiment, { path, as: service.developer });
    expect(deleted).toMatchObject({ status: 200, json: { deleted: { objects: 1, bytes: 2 } } });
    expect((await service.records.query({ pk: `JOB#${experiment_id}` })).items).toEqual([]);
    const { json } = await service.call(readProject, { path: { project_id }, as: service.developer });
    expect(json).toMatchObject({ experiments: 0, latest_experiment: null, best_experiment: null });
  });

  test('ends with its project, which leaves nothing behind', async () => {
    const service = await trainingService();
    const project_id = await service.project({ command: 'sleep 600' });
    const neighbour = await service.project({ command: 'true' });
    const experiment_id = await begin(service, project_id);
    await service.until(project_id, experiment_id, ({ status }) => status === 'RUNNING');
    const deleted = await service.call(deleteProject, { path: { project_id }, as: service.developer });
    expect(deleted).toMatchObject({
      status: 200,
      json: { cancelled_jobs: 1, deleted: { configs: 1, experiments: 1, objects: 1 } },
    });
    expect((await service.call(readProject, { path: { project_id }, as: service.developer })).status).toBe(
      404,
    );
    const runPurge = taskHandler(purge, service.environment);
    while ((await service.records.query({ pk: `EXPERIMENTS#${project_id}` })).items.length > 0)
      await runPurge(undefined);
    await runPurge(undefined);
    for (const pk of [`JOB#${experiment_id}`, `CONFIGS#${project_id}`, `COUNTERS#${project_id}`]) {
      expect((await service.records.query({ pk })).items, pk).toEqual([]);
    }
    expect(await unfinishedOf(service.records)).toEqual([]);
    expect(
      (await service.call(readProject, { path: { project_id: neighbour }, as: service.developer })).status,
    ).toBe(200);
    expect(await readdir(join(service.folder, 'work', 'users')).catch(() => [])).not.toContain(experiment_id);
  });
});
