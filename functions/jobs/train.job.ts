import { experimentKey, parseExperiment } from '../../shared/data/experiments/experiment.ts';
import { defineTask, taskHandler } from '../../shared/http/definition/task.ts';
import { openTracking } from '../../shared/mlflow/in-job/open-tracking.ts';
import { exitCodes } from '../../shared/runner/job/batch-container.ts';
import { holdJob } from '../../shared/runner/job/hold-job.ts';
import { stopOnSigterm } from '../../shared/runner/job/job-stop.ts';
import { readTrainingContainer } from '../../shared/runner/job/training-container.ts';
import { trainingNeeds } from '../../shared/runner/job/training-needs.ts';
import { runTraining } from '../../shared/runner/training/run-training.ts';

/** The program of a training's container: one node of it, or the build of its environment. */
export const job = defineTask({
  name: 'train',
  needs: trainingNeeds,

  async run(variables: Readonly<Record<string, string | undefined>>, context): Promise<number> {
    const { records, objects, settings, now, log } = context;
    const container = readTrainingContainer(variables);
    const subject = experimentKey(container.project_id, container.experiment_id);
    const stop = stopOnSigterm();
    const wanted = { subject, parse: parseExperiment };
    const acquired = await holdJob(records, wanted, container.identity, now);
    if ('refused' in acquired) {
      log.info('not-run', { experiment_id: container.experiment_id, reason: acquired.refused });
      return exitCodes.succeeded;
    }
    const { lease, record } = acquired;
    const { node } = container.identity;
    const job = { record, lease, node, container, records, objects, settings, stop, log, now };
    return runTraining(job, openTracking);
  },
});

export const handler = taskHandler(job);
