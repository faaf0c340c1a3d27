import type { ObjectWriter } from '../../aws/objects.ts';
import type { Experiment } from '../../data/experiment.ts';
import type { HeldJob } from './held-job.ts';
import type { JobEnvironment } from './job-environment.ts';

/** What a container holds while it runs a node of a training. */
export interface Job extends HeldJob<Experiment> {
  environment: JobEnvironment;
  objects: ObjectWriter;
}
