import { endpoint as cancelExperiment } from '../../../functions/experiments/cancel-experiment.endpoint.ts';
import { endpoint as createExperiment } from '../../../functions/experiments/create-experiment.endpoint.ts';
import { endpoint as deleteExperiment } from '../../../functions/experiments/delete-experiment.endpoint.ts';
import { endpoint as listExperiments } from '../../../functions/experiments/list-experiments.endpoint.ts';
import { endpoint as logMetrics } from '../../../functions/experiments/log-metrics.endpoint.ts';
import { endpoint as logParams } from '../../../functions/experiments/log-params.endpoint.ts';
import { endpoint as putArtifact } from '../../../functions/experiments/put-artifact.endpoint.ts';
import { endpoint as requestArtifact } from '../../../functions/experiments/request-artifact-upload.endpoint.ts';
import { endpoint as updateExperiment } from '../../../functions/experiments/update-experiment.endpoint.ts';
import { endpoint as mlflow } from '../../../functions/mlflow/serve-mlflow.endpoint.ts';
import { endpoint as cancelPrune } from '../../../functions/optimization/strategies/cancel-prune-strategy.endpoint.ts';
import { endpoint as cancelQuantize } from '../../../functions/optimization/strategies/cancel-quantize-strategy.endpoint.ts';
import { endpoint as prune } from '../../../functions/optimization/strategies/create-prune-strategy.endpoint.ts';
import { endpoint as quantize } from '../../../functions/optimization/strategies/create-quantize-strategy.endpoint.ts';
import { endpoint as deleteMember } from '../../../functions/projects/delete-member.endpoint.ts';
import { endpoint as deleteVariables } from '../../../functions/projects/delete-variables.endpoint.ts';
import { endpoint as putMember } from '../../../functions/projects/put-member.endpoint.ts';
import { endpoint as putVariable } from '../../../functions/projects/put-variable.endpoint.ts';
import { endpoint as requestDataset } from '../../../functions/projects/request-dataset-upload.endpoint.ts';
import { endpoint as rerun } from '../../../functions/projects/rerun-experiment.endpoint.ts';
import { endpoint as train } from '../../../functions/projects/train-project.endpoint.ts';
import { endpoint as trainRemote } from '../../../functions/projects/train-project-remote.endpoint.ts';
import { endpoint as transferProject } from '../../../functions/projects/transfer-project.endpoint.ts';

/** The functions whose processes are killed: those that begin and cancel jobs, and those that record what others run. */
export const endpoints = {
  createExperiment,
  logParams,
  logMetrics,
  updateExperiment,
  deleteExperiment,
  listExperiments,
  requestArtifact,
  putArtifact,
  requestDataset,
  mlflow,
  putVariable,
  deleteVariables,
  putMember,
  deleteMember,
  transferProject,
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
