import { writeObjects } from '../../shared/aws/needs.ts';
import { experimentKey } from '../../shared/data/experiment.ts';
import { writeRecords } from '../../shared/data/needs.ts';
import { defineTask, taskHandler } from '../../shared/endpoint/task.ts';
import { acquireLease } from '../../shared/jobs/acquire-lease.ts';
import { readJobEnvironment } from '../../shared/runner/job-environment.ts';
import { JobStop } from '../../shared/runner/job-stop.ts';
import { exitCodes, runJob } from '../../shared/runner/run-job.ts';

/** The program of a training's container: one node of it, or the build of its environment. */
export const job = defineTask({
  name: 'train',
  needs: { records: writeRecords, objects: writeObjects },

  async run(variables: Readonly<Record<string, string | undefined>>, context): Promise<number> {
    const { records, objects, settings, now, log } = context;
    const environment = readJobEnvironment(variables);
    const subject = experimentKey(environment.project_id, environment.experiment_id);
    const stop = new JobStop();
    // PID 1 of a container ignores SIGTERM unless it handles it.
    process.on('SIGTERM', () => stop.because({ kind: 'signal' }));
    const acquired = await acquireLease(records, subject, environment.container, now());
    if ('refused' in acquired) {
      log.info('not-run', { experiment_id: environment.experiment_id, reason: acquired.refused });
      return exitCodes.succeeded;
    }
    const { lease, record } = acquired;
    return runJob({ experiment: record, lease, environment, records, objects, settings, stop, log, now });
  },
});

export const handler = taskHandler(job);
