import type { endpoint as readExperiment } from '../../functions/experiments/records/read-experiment.endpoint.ts';
import type { AnswerOf } from '../../shared/client/route.ts';

/** Experiment in the service's JSON. */
export type Experiment = AnswerOf<typeof readExperiment>;
