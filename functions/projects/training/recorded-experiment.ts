import type { BatchControl } from '../../../shared/aws/batch.ts';
import { type Experiment, requireExperiment } from '../../../shared/data/experiments/experiment.ts';
import type { Project } from '../../../shared/data/projects/project.ts';
import type { TableReader, TableWriter } from '../../../shared/data/table/table.ts';
import { answerExperiment } from '../../../shared/experiments/send-experiment.ts';
import type { Ambient } from '../../../shared/http/definition/endpoint-context.ts';
import { startWaitingInRequest } from '../../../shared/jobs/admission/start-waiting.ts';
import { submitInRequest } from '../../../shared/jobs/submit-in-request.ts';

type Submitting = Pick<Ambient, 'now' | 'settings' | 'log'> & {
  records: TableWriter<'records'>;
  batch: BatchControl;
  keys: TableReader<'accounts'>;
};

/**
 * Hands a recorded experiment to Batch, or starts who waits where it waits, and answers it as it is then. Should that
 * fail, the reconciler does it later. `isFirst` says that nobody can have tried before.
 */
export async function submitAndAnswer(
  { experiment, waits }: { experiment: Experiment; waits: boolean },
  context: Submitting,
  isFirst: boolean,
) {
  const { records, batch, keys, settings, log, now } = context;
  const { project_id, experiment_id } = experiment;
  if (waits) await startWaitingInRequest({ records, batch, keys, settings, now }, experiment, log);
  else await submitInRequest(experiment, context, isFirst);
  const present = await requireExperiment(records, project_id, experiment_id);
  return answerExperiment(context, present);
}

/** How both kinds of training honour an `Idempotency-Key`. */
export const creatingExperiment = {
  kind: 'creates',
  table: 'records',

  /** The process that recorded the experiment may have died before submitting it. */
  async replayCreated(experiment_id: string, context: Submitting & { project: Project }) {
    const { records, project } = context;
    const experiment = await requireExperiment(records, project.project_id, experiment_id);
    if (experiment.status === 'CREATED')
      return submitAndAnswer({ experiment, waits: experiment.line_ticket !== null }, context, false);
    return answerExperiment(context, experiment);
  },
} as const;
