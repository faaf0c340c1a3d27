import type { endpoint as readExperiment } from '../../functions/experiments/records/read-experiment.endpoint.ts';
import type { AnswerOf } from '../../shared/client/route.ts';

/** An experiment as the service answers it. */
export type Experiment = AnswerOf<typeof readExperiment>;
