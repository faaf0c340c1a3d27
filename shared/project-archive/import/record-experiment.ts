import { putImportedFile } from '../../data/experiments/artifact.ts';
import { markNew } from '../../data/experiments/catalogue-mark.ts';
import {
  type Experiment,
  emptyExperiment,
  findExperiment,
  putExperiment,
} from '../../data/experiments/experiment.ts';
import { foldNowAndThen } from '../../data/experiments/fold-catalogue.ts';
import { chunksOf } from '../../data/experiments/log-points.ts';
import { putFields } from '../../data/experiments/tracking.ts';
import { newJob } from '../../data/jobs/job.ts';
import { putJobConfig } from '../../data/jobs/job-config.ts';
import { importedLogChunk, type LogLine } from '../../data/jobs/job-log.ts';
import { rankOf } from '../../data/jobs/job-status.ts';
import { metricChunk } from '../../data/metrics/job-metrics.ts';
import {
  allSummaries,
  type MetricParts,
  putMetricPart,
  withPoints,
} from '../../data/metrics/metric-summaries.ts';
import type { MetricPoint } from '../../data/metrics/metric-summary.ts';
import { compactPoints } from '../../data/metrics/point-blocks.ts';
import { noteFirstCriterion } from '../../data/projects/inferred-criterion.ts';
import { count, projectExists } from '../../data/projects/project.ts';
import { importUnmoved, type ProjectImport } from '../../data/projects/project-archives.ts';
import type { Write } from '../../data/table/table.ts';
import { moveTexts } from '../../experiments/dataset-texts.ts';
import type { ExperimentDocument } from '../documents.ts';
import { lineMaxBytes } from '../lines.ts';
import { type Ids, resolver, withTexts } from '../references.ts';
import { type ImportContext, type ImportPass, importedFile, saveWith } from './import-context.ts';
import type { OpenArchive } from './open-archive.ts';
import { fileAt, readConfigBytes, readExperiment, readPoints, readPrinted } from './read-document.ts';

/**
 * Record an experiment: first its parts, then the experiment itself with its counts, in one transaction with the
 * progress of the import. So an experiment that its owner deletes after a crash is not recorded again.
 * @param done number of finished steps afterwards
 * @returns false if the project was deleted or is full
 * @throws ConditionFailedError if another pass continued the import
 */
export async function recordExperiment(
  context: ImportContext,
  pass: ImportPass,
  archive: OpenArchive,
  ids: Ids,
  number: number,
  done: number,
): Promise<boolean> {
  const { records, objects, projectBytes } = context;
  const { value } = pass;
  const { project_id } = value;
  const group = archive.contents.experiments[number - 1];
  const experiment_id = ids.experiments[number - 1];
  if (group === undefined || experiment_id === undefined) throw new Error(`no experiment ${number}`);
  if ((await findExperiment(records, project_id, experiment_id)) !== undefined) {
    // An earlier release recorded it apart from the progress.
    await pass.save({ done, failures: 0 });
    return true;
  }
  const file = fileAt(archive.files, group.document);
  const document = await readExperiment(archive, archive.read(group.document), file);
  const beside = await recordBeside(context, value, archive, experiment_id, group.rest);
  const experiment = experimentOf(value, experiment_id, document, ids, beside);
  const { fields } = document;
  const resolved = fields && withTexts(fields, resolver(ids));
  const datasets =
    resolved?.datasets && (await moveTexts(objects, { project_id, experiment_id }, resolved.datasets));
  const bytes = beside.artifact_bytes + beside.checkpoint_bytes;
  const files = beside.artifacts + beside.checkpoints;
  await noteFirstCriterion(
    records,
    { project_id, experiment_id },
    allSummaries(beside.parts).keys(),
    importUnmoved(value),
    projectExists(project_id),
  );
  const isRecorded = await saveWith(
    pass,
    done,
    projectExists(project_id),
    putExperiment(experiment),
    ...(resolved === null
      ? []
      : [
          putFields(
            project_id,
            experiment_id,
            { ...resolved, ...(datasets !== undefined && { datasets }), version: 1 },
            undefined,
          ),
        ]),
    ...beside.parts.map((part, index) =>
      putMetricPart(project_id, experiment_id, index, {
        ...part,
        next_chunk: index === 0 ? beside.chunks : part.next_chunk,
      }),
    ),
    markNew(project_id, experiment_id),
    count(project_id, { experiments: 1, logged_changes: 1, objects: files, bytes }, projectBytes),
  );
  if (!isRecorded) return false;
  await compactPoints(records, experiment_id);
  await foldNowAndThen(records, project_id, experiment_id);
  return true;
}

async function recordBeside(
  context: ImportContext,
  value: ProjectImport,
  archive: OpenArchive,
  experiment_id: string,
  indexes: readonly number[],
): Promise<Beside> {
  const { records, now } = context;
  // The condition stops a slow pass from overwriting records of the other pass, which the owner may have changed
  // since.
  const put: Put = (...writes) => records.write(importUnmoved(value), ...writes);
  const beside: Beside = {
    parts: [],
    chunks: 0,
    artifacts: 0,
    artifact_bytes: 0,
    checkpoints: 0,
    checkpoint_bytes: 0,
  };
  let puts: ReturnType<typeof putImportedFile>[] = [];
  for (const index of indexes) {
    const file = fileAt(archive.files, index);
    const { placed, size, sha256, media_type = 'application/octet-stream', created_at } = file;
    const bytes = () => archive.read(index);
    if (placed.of === 'experiment-config')
      await put(putJobConfig(experiment_id, await readConfigBytes(bytes(), file)));
    if (placed.of === 'metrics')
      Object.assign(beside, await recordPoints(put, experiment_id, readPoints(bytes(), file)));
    if (placed.of === 'log') await recordLog(put, experiment_id, placed.node, readPrinted(bytes(), file));
    if (placed.of !== 'file') continue;
    beside[`${placed.kind}s`] += 1;
    beside[`${placed.kind}_bytes`] += size;
    const object = importedFile(value, experiment_id, placed.kind, index);
    const at = created_at ?? now().toISOString();
    puts.push(
      putImportedFile(experiment_id, placed.kind, {
        path: placed.path,
        size,
        sha256,
        media_type,
        object,
        created_at: at,
      }),
    );
    if (puts.length < filesAtOnce) continue;
    await put(...puts);
    puts = [];
  }
  if (puts.length > 0) await put(...puts);
  return beside;
}

/** Parts of an experiment. All of them are recorded before the experiment, so no reader sees an incomplete one. */
interface Beside {
  parts: MetricParts;
  chunks: number;
  artifacts: number;
  artifact_bytes: number;
  checkpoints: number;
  checkpoint_bytes: number;
}

type Put = (...writes: Write[]) => Promise<void>;

async function recordPoints(
  put: Put,
  experiment_id: string,
  points: AsyncIterable<MetricPoint>,
): Promise<Pick<Beside, 'parts' | 'chunks'>> {
  let parts: MetricParts = [];
  let chunks = 0;
  let waiting: MetricPoint[] = [];
  const store = async () => {
    parts = withPoints(parts, waiting).parts;
    for (const rows of chunksOf(waiting)) {
      await put({ put: metricChunk(experiment_id, importedLease, chunks, rows) });
      chunks += 1;
    }
    waiting = [];
  };
  for await (const point of points) {
    waiting.push(point);
    if (waiting.length === pointsAtOnce) await store();
  }
  if (waiting.length > 0) await store();
  return { parts, chunks };
}

/** Lease of points that no job of this service wrote. */
const importedLease = 0;
const pointsAtOnce = 4000;

async function recordLog(
  put: Put,
  experiment_id: string,
  node: number,
  lines: AsyncIterable<LogLine>,
): Promise<void> {
  let waiting: LogLine[] = [];
  let bytes = 0;
  let sequence = 0;
  const store = async () => {
    await put({ put: await importedLogChunk(experiment_id, node, sequence, waiting) });
    sequence += 1;
    waiting = [];
    bytes = 0;
  };
  for await (const line of lines) {
    const more = Buffer.byteLength(JSON.stringify(line.message)) + 40;
    if (waiting.length > 0 && (bytes + more > lineMaxBytes || waiting.length === 1000)) await store();
    waiting.push(line);
    bytes += more;
  }
  if (waiting.length > 0) await store();
}

const filesAtOnce = 50;

function experimentOf(
  { user_id, project_id }: ProjectImport,
  experiment_id: string,
  document: ExperimentDocument,
  { experiments }: Ids,
  { parts: _, chunks, ...files }: Beside,
): Experiment {
  const { fields, user, rerun_of, continues_from, recorded_by, metric_names: _names, ...rest } = document;
  const idOf = (number: number | null | undefined): string | null =>
    number == null ? null : (experiments[number - 1] ?? null);
  const recordedBy = idOf(recorded_by);
  const { vcpus, memory, gpus, nodes, timeout, limits, created_at } = rest;
  return {
    ...newJob({ user_id, created_at, vcpus, memory, gpus, nodes, timeout, limits, limit_share: null }),
    ...emptyExperiment,
    ...rest,
    status_rank: rankOf(rest.status),
    checked_at: created_at,
    experiment_id,
    project_id,
    imported_user: user,
    rerun_of: idOf(rerun_of),
    continues_from: idOf(continues_from),
    ...(recordedBy !== null && { recorded_by: recordedBy }),
    ...files,
  };
}
