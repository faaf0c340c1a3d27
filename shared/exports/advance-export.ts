import { buffer } from 'node:stream/consumers';
import type { ObjectReader, ObjectWriter } from '../aws/objects.ts';
import { recordCompression } from '../compressions/record-compression.ts';
import { errorName } from '../core/error-text.ts';
import { ServiceError } from '../core/service-error.ts';
import { tryParseJson } from '../core/text/try-parse-json.ts';
import { originOf } from '../data/accounts/ci-run.ts';
import { findUser } from '../data/accounts/user.ts';
import { findArtifact } from '../data/experiments/artifact.ts';
import { type Experiment, findExperiment, touchExperiment } from '../data/experiments/experiment.ts';
import { type ExportStep, findExportStep, removeExportStep } from '../data/experiments/export-step.ts';
import type { ModelExport } from '../data/experiments/model-export.ts';
import { requireReadyModel } from '../data/models/model.ts';
import { ModelLineage } from '../data/models/model-lineage.ts';
import { findProjects } from '../data/projects/project.ts';
import { retryOnConflict } from '../data/table/retry-on-conflict.ts';
import type { TableReader } from '../data/table/table.ts';
import { WriteLabel } from '../data/table/write-label.ts';
import { type Admitted, type Submitting, submitAdmitted } from '../jobs/admission.ts';
import { ModelError } from '../onnx/model/model-error.ts';
import { registerArtifact } from '../onnx-models/register-artifact.ts';
import { missingRight } from '../schedules/owner-rights.ts';
import { exportedFiles } from './program/export-settings.ts';

/** Services of what follows an export. */
export type ExportContext = Submitting & {
  users: TableReader<'accounts'>;
  /** Files of models. */
  models: ObjectWriter;
  /** Files of projects. */
  artifacts: ObjectReader;
  newId(): string;
};

/**
 * Register the model of an export that has succeeded, and begin its compression. Registering may be repeated; the transaction that
 * records the compression notes it at the export and deletes the step. So any process may call this at any time, also in
 * parallel and again, and no export is compressed twice. What a caller can mend is noted as the reason.
 */
export async function advanceExport(
  context: ExportContext,
  { project_id, experiment_id }: ExportStep,
): Promise<void> {
  const { records } = context;
  const begun = await retryOnConflict(
    async () => {
      const experiment = await findExperiment(records, project_id, experiment_id);
      const model_export = experiment?.model_export;
      if (experiment === undefined || model_export === undefined || isOver(model_export)) {
        await records.write(removeExportStep(experiment_id));
        return undefined;
      }
      try {
        return await compressExported(context, experiment, model_export);
      } catch (error) {
        const reason = reasonOf(error);
        if (reason === undefined) throw error;
        await records.write(...noteWrites(experiment, { ...model_export, reason }));
        return undefined;
      }
    },
    { isConflict: (error) => unchanged.failedIn(error) },
  );
  if (begun !== undefined) await submitAdmitted(begun, context);
}

/** Take the step that the end of an export left. Never throw: its row stays, and a later pass takes it. */
export async function advanceExportAfter(context: ExportContext, experiment_id: string): Promise<void> {
  try {
    const step = await findExportStep(context.records, experiment_id);
    if (step !== undefined) await advanceExport(context, step);
  } catch (error) {
    context.log.warn('export-later', { experiment_id, error: errorName(error) });
  }
}

/** Label of the condition that the export has not changed since it was read. */
const unchanged = new WriteLabel('export');

const isOver = ({ strategy_id, reason }: ModelExport): boolean => strategy_id !== null || reason !== null;

/** Build the writes that note what followed an export, and end its step. */
const noteWrites = (experiment: Experiment, model_export: ModelExport) => [
  unchanged.on(touchExperiment(experiment, { model_export })),
  removeExportStep(experiment.experiment_id),
];

/** Return what a user can mend. Undefined for errors that another attempt may avoid. */
function reasonOf(error: unknown): string | undefined {
  if (error instanceof ModelError) return error.message.slice(0, longestReason);
  if (!(error instanceof ServiceError) || error.kind === 'unavailable') return undefined;
  return error.message.slice(0, longestReason);
}

const longestReason = 1000;

/**
 * Register the model of an export, and record its compression.
 * @throws ServiceError, ModelError; ConditionFailedError with {@link unchanged}
 */
async function compressExported(
  context: ExportContext,
  experiment: Experiment,
  model_export: ModelExport,
): Promise<Admitted<NonNullable<Awaited<ReturnType<typeof recordCompression>>>['record']>> {
  const { records } = context;
  const { project_id, experiment_id } = experiment;
  const { model_name, result_name, compression: request, budget } = model_export;
  const caller = await userOf(context, experiment);
  const setOf = async (path: string) =>
    (await findArtifact(records, experiment_id, path)) === undefined ? undefined : path;
  await registerArtifact(
    { ...context, objects: context.models, caller },
    model_name,
    {
      experiment_id,
      path: exportedFiles.model,
      calibration: await setOf(exportedFiles.calibration),
      evaluation: await setOf(exportedFiles.evaluation),
    },
    { inputs: null, outputs: null },
    await lineageOf(context, experiment_id, model_export),
  );
  const model = await requireReadyModel(records, model_name);
  return recordCompression(
    {
      ...{ model_name, request, result_name, inputs: null, outputs: null },
      ...{ vcpus: undefined, memory: undefined, timeout: undefined, budget: budget ?? undefined },
    },
    { model, project_id },
    {
      ...context,
      caller,
      unchanged,
      idempotencyWrites: (strategy_id) => noteWrites(experiment, { ...model_export, strategy_id }),
    },
  );
}

/** Return the user who began an export. @throws ServiceError `forbidden` if they may not train in its project any more */
async function userOf({ records, users, now }: ExportContext, experiment: Experiment) {
  const { user_id, project_id } = experiment;
  const [user, { items }] = await Promise.all([
    findUser(users, user_id),
    findProjects(records, [project_id]),
  ]);
  const [project] = items;
  if (project === undefined || project.deleted_at !== undefined)
    throw new ServiceError('forbidden', 'Its project is deleted.');
  const username = user?.username ?? 'The user';
  const missing = await missingRight(
    { owners: users, records },
    { user_id, username, project_id },
    project,
    now(),
  );
  if (missing !== undefined) throw new ServiceError('forbidden', missing);
  return { user_id, username, ...originOf(experiment) };
}

/** Bytes of the largest report that is read. */
const longestReport = 2 ** 20;

/** Files of a source that are kept with their digests. */
const maxFiles = 100;

/**
 * Return where a model comes from, as the report of its export says. The program may have run code of a stranger, so the name of
 * the repository, and its commit if the request resolved it, are those of the request.
 * @returns undefined without a report that can be read
 */
async function lineageOf(
  { records, artifacts }: Pick<ExportContext, 'records' | 'artifacts'>,
  experiment_id: string,
  { source: requested }: ModelExport,
): Promise<ModelLineage | undefined> {
  const report = await findArtifact(records, experiment_id, exportedFiles.report);
  if (report === undefined || report.size > longestReport) return undefined;
  const stream = await artifacts.read(report.object);
  if (stream === undefined) return undefined;
  const read = ModelLineage.safeParse(tryParseJson((await buffer(stream)).toString('utf8')));
  if (!read.success) return undefined;
  const { source } = read.data;
  const id = 'hf' in requested ? requested.hf : null;
  const revision = 'hf' in requested ? (requested.commit ?? source.revision) : null;
  const files = Object.fromEntries(Object.entries(source.files).slice(0, maxFiles));
  return { ...read.data, source: { ...source, id, revision, files } };
}
