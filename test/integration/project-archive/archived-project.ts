import { createHash } from 'node:crypto';
import { newId } from '../../../shared/core/new-id.ts';
import { artifactItem, artifactObject, putImportedFile } from '../../../shared/data/experiments/artifact.ts';
import { markNew } from '../../../shared/data/experiments/catalogue-mark.ts';
import { clientObject } from '../../../shared/data/experiments/client-artifact.ts';
import {
  putExperiment,
  requireExperiment,
  touchExperiment,
} from '../../../shared/data/experiments/experiment.ts';
import { logPoints } from '../../../shared/data/experiments/log-points.ts';
import { loggedModelFileKey, putLoggedModel } from '../../../shared/data/experiments/logged-model.ts';
import { type ExperimentFields, putFields } from '../../../shared/data/experiments/tracking.ts';
import { putJobConfig } from '../../../shared/data/jobs/job-config.ts';
import { importedLogChunk } from '../../../shared/data/jobs/job-log.ts';
import { rankOf } from '../../../shared/data/jobs/job-status.ts';
import { metricChunk } from '../../../shared/data/metrics/job-metrics.ts';
import type { MetricPoint } from '../../../shared/data/metrics/metric-summary.ts';
import { findConfig, putConfig } from '../../../shared/data/projects/config.ts';
import { putEnvironment } from '../../../shared/data/projects/environment.ts';
import { count, createProject, newProjectId, type Project } from '../../../shared/data/projects/project.ts';
import { putAccepted, putCurrent, uploadObject } from '../../../shared/data/projects/upload.ts';
import { putImportedVariables } from '../../../shared/data/projects/variable.ts';
import { recordLogged } from '../../../shared/experiments/logged-experiment.ts';
import { experimentOf } from '../../support/experiment.ts';
import type { ArchiveTools } from './archive-lab.ts';
import { recordPages } from './recorded-pages.ts';
import { recordRegistry } from './recorded-registry.ts';

/** An experiment to record, and what of it. */
export interface DrawnExperiment {
  isTrained: boolean;
  tags: Readonly<Record<string, string>>;
  note: string;
  points: readonly MetricPoint[];
  lines: readonly string[];
  /** Contents by path. */
  artifacts: Readonly<Record<string, Uint8Array>>;
  /** Whether its tags name the first experiment, as MLflow's clients name a parent. */
  hasParent: boolean;
}

/** A project to record. */
export interface DrawnProject {
  description: string;
  configs: Readonly<Record<string, readonly string[]>>;
  hasEnvironment: boolean;
  source: Uint8Array;
  datasets: Readonly<Record<string, Uint8Array>>;
  experiments: readonly DrawnExperiment[];
  models: readonly Readonly<Record<string, Uint8Array>>[];
  /** Whether there are registered models with versions of the project, and of others. */
  hasRegistry?: boolean;
  /** Whether there are a report that shows experiments, and a schedule. */
  hasPages?: boolean;
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const at = '2026-02-03T04:05:06.007Z';
const type = 'application/octet-stream';

async function recordUpload(
  { records, objects }: ArchiveTools,
  project_id: string,
  kind: 'source' | 'dataset',
  name: string,
  bytes: Uint8Array,
): Promise<void> {
  const digest = sha256(bytes);
  await objects.put(uploadObject(kind, project_id, digest), bytes, type);
  const size = bytes.length;
  const value = {
    project_id,
    name,
    sha256: digest,
    size,
    format: 'file',
    updated_at: at,
    version: 1,
  } as const;
  await records.write(putAccepted(kind, project_id, digest, size), putCurrent(kind, value));
  await records.write(count(project_id, { objects: 1, bytes: size }));
}

async function recordConfigs(
  { records }: ArchiveTools,
  project_id: string,
  drawn: DrawnProject,
): Promise<void> {
  for (const [config_id, versions] of Object.entries(drawn.configs)) {
    for (const content of versions) {
      const previous = await findConfig(records, project_id, config_id);
      const bytes = Buffer.from(content);
      const value = {
        project_id,
        config_id,
        format: 'yaml' as const,
        size: bytes.length,
        sha256: sha256(bytes),
        created_at: at,
        updated_at: at,
        version: (previous?.version ?? 0) + 1,
        versions_before: 0,
        generation: previous?.generation ?? newId(),
      };
      await putConfig(records, value, bytes, previous);
    }
  }
}

async function recordFiles(
  { records, objects }: ArchiveTools,
  project_id: string,
  experiment_id: string,
  files: DrawnExperiment['artifacts'],
): Promise<{ artifacts: number; artifact_bytes: number }> {
  let artifact_bytes = 0;
  for (const [path, bytes] of Object.entries(files)) {
    const object = artifactObject(project_id, experiment_id, newId());
    await objects.put(object, bytes, type);
    const size = bytes.length;
    // One in two came in parts, of which no digest is known.
    const digest = path.length % 2 === 0 ? sha256(bytes) : null;
    const value = { path, size, sha256: digest, media_type: 'text/plain', object, created_at: at };
    await records.write(putImportedFile(experiment_id, 'artifact', value));
    artifact_bytes += size;
  }
  const artifacts = Object.keys(files).length;
  await records.write(count(project_id, { objects: artifacts, bytes: artifact_bytes }));
  return { artifacts, artifact_bytes };
}

async function recordExperiment(
  lab: ArchiveTools,
  project: Project,
  drawn: DrawnExperiment,
  first: string | undefined,
): Promise<string> {
  const { records, user } = lab;
  const { project_id } = project;
  const experiment_id = newId();
  const parent: Record<string, string> =
    drawn.hasParent && first !== undefined ? { 'mlflow.parentRunId': `${project_id}-${first}` } : {};
  const fields: ExperimentFields = {
    name: 'a ~ run',
    note: drawn.note,
    tags: { ...drawn.tags, ...parent, unknown: newId() },
    params: { lr: '0.1', 'optimizer.name': 'adam' },
    git: { commit: 'abc', branch: null, dirty: true },
    updated_at: at,
    version: 1,
  };
  if (!drawn.isTrained) {
    await recordLogged(records, { project, experiment_id, caller: user, fields });
    await logPoints(records, { project_id, experiment_id }, drawn.points);
    const files = await recordFiles(lab, project_id, experiment_id, drawn.artifacts);
    await records.write(touchExperiment(await requireExperiment(records, project_id, experiment_id), files));
    return experiment_id;
  }
  const files = await recordFiles(lab, project_id, experiment_id, drawn.artifacts);
  const experiment = {
    ...experimentOf(project_id, 0.875),
    experiment_id,
    user_id: user.user_id,
    rerun_of: first ?? null,
    stopped_at: at,
    status_rank: rankOf('SUCCEEDED'),
    ...files,
  };
  if (drawn.points.length > 0) await records.write({ put: metricChunk(experiment_id, 1, 0, drawn.points) });
  if (drawn.lines.length > 0) {
    const lines = drawn.lines.map((message) => ({ time: at, stream: 'stdout' as const, message }));
    await records.write({ put: await importedLogChunk(experiment_id, 0, 0, lines) });
  }
  await records.write(
    putJobConfig(experiment_id, Buffer.from('lr: 0.1\n')),
    putExperiment(experiment),
    putFields(project_id, experiment_id, fields, undefined),
    markNew(project_id, experiment_id),
    count(project_id, { experiments: 1, logged_changes: 1 }),
  );
  return experiment_id;
}

async function recordModel(
  { records, objects, user }: ArchiveTools,
  project_id: string,
  files: Readonly<Record<string, Uint8Array>>,
  source_experiment_id: string | null,
): Promise<void> {
  const model_id = newId();
  const value = {
    model_id,
    project_id,
    name: 'model',
    model_type: '',
    status: 'READY' as const,
    source_experiment_id,
    user_id: user.user_id,
    params: {},
    tags: { self: `m-${project_id}-${model_id}` },
    metrics: [0.5, Number.NaN, Number.NEGATIVE_INFINITY, 1e300].map((value, index) => ({
      ...{ name: `f${index + 1}`, value, step: 1, time: at },
      run_id: `${project_id}-${source_experiment_id}`,
    })),
    created_at: at,
    updated_at: at,
    version: 1,
  };
  await records.write(putLoggedModel(value, undefined));
  for (const [path, bytes] of Object.entries(files)) {
    const object = clientObject({ of: 'model', project_id, model_id }, newId());
    await objects.put(object, bytes, type);
    const put = { path, size: bytes.length, sha256: sha256(bytes), media_type: type, object, created_at: at };
    await records.write({ put: artifactItem(loggedModelFileKey(project_id, model_id, path), put) });
    await records.write(count(project_id, { objects: 1, bytes: bytes.length }));
  }
}

/** Records a project with all that an archive can contain, and one secret. @returns its id */
export async function recordProject(lab: ArchiveTools, drawn: DrawnProject): Promise<string> {
  const { records, user } = lab;
  const project: Project = {
    project_id: await newProjectId(records, newId()),
    project_name: 'Digits',
    project_description: drawn.description,
    project_type: 'image',
    project_task: 'classification',
    tags: { 'mlflow.note.content': 'of the project' },
    owner: user.username,
    owner_id: user.user_id,
    created_at: at,
    updated_at: at,
    version: 1,
  };
  const { project_id } = project;
  await createProject(records, project);
  await recordConfigs(lab, project_id, drawn);
  if (drawn.hasEnvironment) {
    const environment = {
      project_id,
      entry_point_command: 'python train.py {config}',
      env_type: 'python' as const,
      dependencies: 'numpy',
      lock_hash: null,
      updated_at: at,
      version: 3,
    };
    await putEnvironment(records, environment, undefined);
  }
  const common = { created_at: at, updated_at: at, version: 1 };
  await records.write(
    putImportedVariables({
      project_id,
      variables: [
        { name: 'API_KEY', value: null, sealed: Buffer.from('sealed'), ...common },
        { name: 'REGION', value: 'here', sealed: null, ...common },
      ],
      versions_before: 0,
      version: 1,
    }),
  );
  await recordUpload(lab, project_id, 'source', 'source', drawn.source);
  for (const [name, bytes] of Object.entries(drawn.datasets))
    await recordUpload(lab, project_id, 'dataset', name, bytes);
  let first: string | undefined;
  for (const one of drawn.experiments) {
    const experiment_id = await recordExperiment(lab, project, one, first);
    first ??= experiment_id;
  }
  for (const files of drawn.models) await recordModel(lab, project_id, files, first ?? null);
  if (drawn.hasRegistry === true && first !== undefined)
    await recordRegistry(lab, { project_id, experiment_id: first });
  if (drawn.hasPages === true) await recordPages(lab, project_id, first);
  return project_id;
}
