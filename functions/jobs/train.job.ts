import { defineTask, taskHandler } from '../../shared/http/definition/task.ts';
import { openTracking } from '../../shared/mlflow/in-job/open-tracking.ts';
import { readTrainingContainer } from '../../shared/runner/job/training-container.ts';
import { trainingNeeds } from '../../shared/runner/job/training-needs.ts';
import { runTraining } from '../../shared/runner/training/run-training.ts';

/** The program of a training's container: one node of it, or the build of its environment. */
export const job = defineTask({
  name: 'train',
  needs: trainingNeeds,

  run: (variables: Readonly<Record<string, string | undefined>>, context): Promise<number> =>
    runTraining(readTrainingContainer(variables), context, openTracking),
});

export const handler = taskHandler(job);
