import { findProcesses } from '../../shared/process/process-tree.ts';
import { type TrainingService, usualDefinition } from './training.ts';

/** Job definition of trainings whose host may be lost: as on AWS, whose reason cannot be had here. */
export const retriedDefinition = {
  ...usualDefinition,
  name: 'train',
  type: 'container' as const,
  evaluateOnExit: [
    { action: 'RETRY' as const, onExitCode: '143' },
    { action: 'EXIT' as const, onReason: '*' },
  ],
};

/** Asks the supervisor of a running training to end, as a host that goes away does. */
export async function loseHost(
  service: Pick<TrainingService, 'records'>,
  project_id: string,
  experiment_id: string,
): Promise<void> {
  const record = await service.records.get({ pk: `EXPERIMENTS#${project_id}`, sk: experiment_id });
  const marker = { name: 'AWS_BATCH_JOB_ID', value: String(record?.['batch_job_id']) };
  const found = await findProcesses({ marker });
  const supervisor = found.find(({ ppid }) => !found.some(({ pid }) => pid === ppid));
  if (supervisor === undefined) throw new Error('the training has no supervisor');
  process.kill(supervisor.pid, 'SIGTERM');
}
