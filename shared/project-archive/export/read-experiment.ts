import type { Experiment } from '../../data/experiments/experiment.ts';
import type { LoggedModel } from '../../data/experiments/logged-model.ts';
import type { ExperimentFields } from '../../data/experiments/tracking.ts';
import { tableNumber } from '../../data/table/stored-number.ts';
import type { ExperimentDocument, ModelDocument } from '../documents.ts';
import { type Names, withTexts } from '../references.ts';

/** `experiment.json` of an experiment. */
export function experimentDocument(
  value: Experiment,
  fields: ExperimentFields | undefined,
  user: string | null,
  names: Names,
): ExperimentDocument {
  const { rerun_of, continues_from, recorded_by } = value;
  const recordedBy = names.numberOf(recorded_by);
  const { version, deleted_at, ...said } = fields ?? { version: 0, deleted_at: undefined };
  return {
    kind: value.kind,
    user: value.imported_user === undefined ? user : value.imported_user,
    status: value.status,
    status_reason: value.status_reason,
    attempt: value.attempt,
    attempts: value.attempts,
    created_at: value.created_at,
    started_at: value.started_at,
    stopped_at: value.stopped_at,
    cancel_requested_at: value.cancel_requested_at,
    exit_code: value.exit_code,
    signal: value.signal,
    vcpus: value.vcpus,
    memory: value.memory,
    gpus: value.gpus,
    nodes: value.nodes,
    timeout: value.timeout,
    limits: value.limits,
    begun_at: value.begun_at,
    config_id: value.config_id,
    config_version: value.config_version,
    config_sha256: value.config_sha256,
    source_sha256: value.source_sha256,
    source_size: value.source_size,
    dataset: value.dataset,
    dataset_sha256: value.dataset_sha256,
    dataset_is_archive: value.dataset_is_archive,
    environment: value.environment,
    lock_hash: value.lock_hash,
    environment_cache: value.environment_cache,
    saved_seconds: value.saved_seconds,
    criterion: value.criterion,
    best: value.best,
    rerun_of: names.numberOf(rerun_of),
    continues_from: names.numberOf(continues_from),
    ...(recordedBy !== null && { recorded_by: recordedBy }),
    overrides: value.overrides,
    cost_estimate: value.cost_estimate,
    fields: 'name' in said ? withTexts(said, names.inText) : null,
  };
}

/** `model.json` of a logged model. */
export function modelDocument(value: LoggedModel, names: Names): ModelDocument {
  const { model_id, project_id, user_id, source_experiment_id, deleted_at, version, ...rest } = value;
  const source_experiment = names.numberOf(source_experiment_id);
  const metrics = rest.metrics.map((metric) => ({ ...metric, value: tableNumber(metric.value) }));
  return { ...withTexts({ ...rest, metrics }, names.inText), source_experiment };
}
