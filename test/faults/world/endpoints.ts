import { endpoint as cancelExperiment } from '../../../functions/experiments/cancel-experiment.endpoint.ts';
import { endpoint as cancelPrune } from '../../../functions/optimization/strategies/cancel-prune-strategy.endpoint.ts';
import { endpoint as cancelQuantize } from '../../../functions/optimization/strategies/cancel-quantize-strategy.endpoint.ts';
import { endpoint as prune } from '../../../functions/optimization/strategies/create-prune-strategy.endpoint.ts';
import { endpoint as quantize } from '../../../functions/optimization/strategies/create-quantize-strategy.endpoint.ts';
import { endpoint as rerun } from '../../../functions/projects/rerun-experiment.endpoint.ts';
import { endpoint as train } from '../../../functions/projects/train-project.endpoint.ts';
import { endpoint as trainRemote } from '../../../functions/projects/train-project-remote.endpoint.ts';

/** The functions that begin and cancel jobs. */
export const endpoints = {
  train,
  rerun,
  trainRemote,
  prune,
  quantize,
  cancelExperiment,
  cancelPrune,
  cancelQuantize,
} as const;
export type EndpointName = keyof typeof endpoints;
