import type { Experiment } from '../../data/experiments/experiment.ts';
import type { LoggedModel } from '../../data/experiments/logged-model.ts';
import type { ExperimentFields } from '../../data/experiments/tracking.ts';
import {
  findModelVersions,
  findRegisteredModel,
  type ModelVersion,
  versionStages,
} from '../../data/models/registered-model.ts';
import { findEnvironment } from '../../data/projects/environment.ts';
import { requireProject } from '../../data/projects/project.ts';
import { findFrozen, requireReport } from '../../data/projects/report.ts';
import { findSource, listDatasets, type Upload } from '../../data/projects/upload.ts';
import { readVariables } from '../../data/projects/variable.ts';
import type { Schedule } from '../../data/schedules/schedule.ts';
import { pagesOf } from '../../data/table/pages-of.ts';
import { tableNumber } from '../../data/table/stored-number.ts';
import type { TableReader } from '../../data/table/table.ts';
import { BlockData, digestOfBlock, unlessReplaced } from '../../reports/block-data.ts';
import { blocksOf, parseReport } from '../../reports/parse-report.ts';
import { canonicalJson } from '../canonical-json.ts';
import type {
  ExperimentDocument,
  ModelDocument,
  ProjectDocument,
  RegisteredDocument,
  ReportDocument,
  ScheduleDocument,
  VersionDocument,
} from '../documents.ts';
import { ProjectArchiveError } from '../project-archive-error.ts';
import { type Names, withTexts } from '../references.ts';
import type { ContainedRegistered } from './export-context.ts';

const current = ({ sha256, format, updated_at, version }: Upload) => ({
  sha256,
  format,
  updated_at,
  version,
});

/** The error for an item that is gone. */
export const changed = (what: string): ProjectArchiveError =>
  new ProjectArchiveError(`${what} was deleted during the export. Start the export again.`);

/** Build `project.json` of a project. */
export async function readProjectDocument(
  records: TableReader<'records'>,
  project_id: string,
  names: Names,
): Promise<ProjectDocument> {
  const project = await requireProject(records, project_id);
  const environment = await findEnvironment(records, project_id);
  const { variables } = await readVariables(records, project_id);
  const source = await findSource(records, project_id);
  const datasets: ProjectDocument['datasets'] = [];
  for await (const page of pagesOf((after) => listDatasets(records, project_id, { after }))) {
    for (const error of page.unreadable ?? []) throw error;
    datasets.push(...page.items.map((item) => ({ name: item.name, ...current(item) })));
  }
  const { project_name, archived_name, project_description, project_type, project_task } = project;
  const { criterion, tags, rules, views } = project;
  const baseline = names.numberOf(project.baseline);
  return {
    project_name: archived_name ?? project_name,
    project_description,
    project_type,
    project_task,
    criterion: criterion ?? null,
    tags: tags ?? null,
    ...(rules !== undefined && { rules }),
    ...(views !== undefined && { views }),
    ...(baseline !== null && { baseline }),
    environment: environment === undefined ? null : withoutProject(environment),
    variables: variables.flatMap(({ name, value, created_at, updated_at, version }) =>
      value === null ? [] : [{ name, value, created_at, updated_at, version }],
    ),
    source: source === undefined ? null : current(source),
    datasets,
  };
}

const withoutProject = ({
  entry_point_command,
  env_type,
  dependencies,
  updated_at,
  version,
}: NonNullable<ProjectDocument['environment']>) => ({
  entry_point_command,
  env_type,
  dependencies,
  updated_at,
  version,
});

/** Build `experiment.json` of an experiment. */
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
    ...(value.capacity !== undefined && { capacity: value.capacity }),
    ...(value.capacity_type !== undefined && { capacity_type: value.capacity_type }),
    ...(value.estimates !== undefined && { estimates: value.estimates }),
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
    ...(value.rules !== undefined && { rules: value.rules }),
    rerun_of: names.numberOf(rerun_of),
    continues_from: names.numberOf(continues_from),
    ...(recordedBy !== null && { recorded_by: recordedBy }),
    overrides: value.overrides,
    cost_estimate: value.cost_estimate,
    fields: 'name' in said ? withTexts(said, names.inText) : null,
  };
}

/** Build `model.json` of a logged model. */
export function modelDocument(value: LoggedModel, names: Names): ModelDocument {
  const { model_id, project_id, user_id, source_experiment_id, deleted_at, version, ...rest } = value;
  const source_experiment = names.numberOf(source_experiment_id);
  const metrics = rest.metrics.map((metric) => ({ ...metric, value: tableNumber(metric.value) }));
  return { ...withTexts({ ...rest, metrics }, names.inText), source_experiment };
}

/** Maximum number of keys of one batch read. */
const readAtOnce = 100;

/** Build `model.json` of a registered model; undefined if it was deleted or renamed. */
export async function registeredDocument(
  records: TableReader<'records'>,
  { registration_id, name, archived_name, versions }: ContainedRegistered,
  names: Names,
): Promise<RegisteredDocument | undefined> {
  const registered = await findRegisteredModel(records, name);
  if (registered?.registration_id !== registration_id) return undefined;
  const { description, tags, created_at, updated_at } = registered;
  const contained = new Set(versions);
  const aliases = Object.fromEntries(
    Object.entries(registered.aliases).filter(([, number]) => contained.has(number)),
  );
  const said = withTexts({ description, tags }, names.inText);
  return { name: archived_name, ...said, aliases, created_at, updated_at };
}

function versionDocument(value: ModelVersion, names: Names): VersionDocument {
  const { number, username: user, stage, created_at, updated_at } = value;
  const { description, source, location, run_id, run_link, model_id, tags } = value;
  return {
    number,
    user,
    stage: versionStages.find((versionStage) => versionStage === stage) ?? 'None',
    created_at,
    updated_at,
    ...withTexts({ description, source, location, run_id, run_link, model_id, tags }, names.inText),
  };
}

/**
 * Yield the lines of `versions.ndjson`.
 * @throws ProjectArchiveError for a deleted version
 */
export async function* versionLines(
  records: TableReader<'records'>,
  { registration_id, name, versions }: ContainedRegistered,
  names: Names,
): AsyncGenerator<string> {
  for (let from = 0; from < versions.length; from += readAtOnce) {
    const ids = versions.slice(from, from + readAtOnce).map((number) => ({ registration_id, number }));
    const model = await findModelVersions(records, ids);
    if (model.length < ids.length) throw changed(`A version of the registered model ${name}`);
    yield model.map((value) => `${canonicalJson(versionDocument(value, names))}\n`).join('');
  }
}

/**
 * Build `report.json` of a report. A picture whose file was replaced is missing there, as it is for readers here.
 * @throws ServiceError `not-found` if it was deleted
 */
export async function reportDocument(
  records: TableReader<'records'>,
  ids: { project_id: string; report_id: string },
  names: Names,
): Promise<ReportDocument> {
  const { report, text } = await requireReport(records, ids);
  const { title, created_at, updated_at } = report;
  const frozen: ReportDocument['frozen'] = [];
  const seen = new Set<string>();
  for (const [index, block] of blocksOf(parseReport(text).parts).entries()) {
    const digest = digestOfBlock(block);
    const at = block.isFrozen && !seen.has(digest) ? report.frozen[digest] : undefined;
    seen.add(digest);
    if (at === undefined) continue;
    const stored = await findFrozen(records, ids, digest);
    if (stored === undefined) throw changed(`The data of a block of the report ${title}`);
    const data = BlockData.parse(await unlessReplaced({ records }, JSON.parse(stored)));
    frozen.push({ block: index + 1, at, data: names.inText(canonicalJson(data)) });
  }
  return { title, text: names.inAnyCase(text), frozen, created_at, updated_at };
}

/** Build `schedule.json` of a schedule. */
export function scheduleDocument({
  name,
  cron,
  zone,
  overlap,
  budget,
  rules,
  inputs,
  created_at,
}: Schedule): ScheduleDocument {
  return { name, cron, zone, overlap, budget, ...(rules !== undefined && { rules }), inputs, created_at };
}
