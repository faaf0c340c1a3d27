import { endpoint as putArtifact } from '../../../../functions/experiments/artifacts/put-artifact.endpoint.ts';
import { endpoint as requestArtifact } from '../../../../functions/experiments/artifacts/request-artifact-upload.endpoint.ts';
import { endpoint as logMetrics } from '../../../../functions/experiments/metrics/log-metrics.endpoint.ts';
import { endpoint as cancelExperiment } from '../../../../functions/experiments/records/cancel-experiment.endpoint.ts';
import { endpoint as createExperiment } from '../../../../functions/experiments/records/create-experiment.endpoint.ts';
import { endpoint as deleteExperiment } from '../../../../functions/experiments/records/delete-experiment.endpoint.ts';
import { endpoint as logParams } from '../../../../functions/experiments/records/log-params.endpoint.ts';
import { endpoint as updateExperiment } from '../../../../functions/experiments/records/update-experiment.endpoint.ts';
import { endpoint as listExperiments } from '../../../../functions/experiments/search/list-experiments.endpoint.ts';
import { endpoint as mlflow } from '../../../../functions/mlflow/serve-mlflow.endpoint.ts';
import { endpoint as cancelPrune } from '../../../../functions/optimization/compressions/prune/cancel-prune-strategy.endpoint.ts';
import { endpoint as prune } from '../../../../functions/optimization/compressions/prune/create-prune-strategy.endpoint.ts';
import { endpoint as cancelQuantize } from '../../../../functions/optimization/compressions/quantize/cancel-quantize-strategy.endpoint.ts';
import { endpoint as quantize } from '../../../../functions/optimization/compressions/quantize/create-quantize-strategy.endpoint.ts';
import { endpoint as putImport } from '../../../../functions/projects/archive/put-import.endpoint.ts';
import { endpoint as requestImport } from '../../../../functions/projects/archive/request-import.endpoint.ts';
import { endpoint as deleteMember } from '../../../../functions/projects/members/delete-member.endpoint.ts';
import { endpoint as putMember } from '../../../../functions/projects/members/put-member.endpoint.ts';
import { endpoint as transferProject } from '../../../../functions/projects/members/transfer-project.endpoint.ts';
import { endpoint as deleteProject } from '../../../../functions/projects/projects/delete-project.endpoint.ts';
import { endpoint as rerun } from '../../../../functions/projects/training/rerun-experiment.endpoint.ts';
import { endpoint as train } from '../../../../functions/projects/training/train-project.endpoint.ts';
import { endpoint as trainRemote } from '../../../../functions/projects/training/train-project-remote.endpoint.ts';
import { endpoint as requestDataset } from '../../../../functions/projects/uploads/request-dataset-upload.endpoint.ts';
import { endpoint as deleteVariables } from '../../../../functions/projects/variables/delete-variables.endpoint.ts';
import { endpoint as putVariable } from '../../../../functions/projects/variables/put-variable.endpoint.ts';

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
  requestImport,
  putImport,
  deleteProject,
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
