import type { Deadline } from '../../core/deadline.ts';
import { errorStack } from '../../core/error-text.ts';
import type { Logger } from '../../core/log.ts';
import { experimentRemains } from '../../data/experiments/experiment.ts';
import { findProjects, projectPrefix } from '../../data/projects/project.ts';
import { importObject, type ProjectImport, saveImport } from '../../data/projects/project-archives.ts';
import { newPurge, type Purge, purgeKey, putOffPurge, recordPurge } from '../../data/projects/purge.ts';
import type { Write } from '../../data/table/table.ts';
import { ConditionFailedError, tryWrite } from '../../data/table/write-label.ts';
import { removeWholeProject } from '../../purge/remove-project.ts';
import { keptUntil, maxPassesThatFail, mayExpire, Pass } from '../archive-limits.ts';
import { ProjectArchiveError } from '../project-archive-error.ts';
import { checkArchive } from './check-archive.ts';
import { type ImportContext, type ImportPass, idsOf, importedId } from './import-context.ts';
import { type OpenArchive, openArchive } from './open-archive.ts';
import { recordExperiment } from './record-experiment.ts';
import { recordModel } from './record-model.ts';
import { makeProject, recordBase } from './record-project.ts';
import { recordRegistered, removeRegistered } from './record-registered.ts';
import { recordReport } from './record-report.ts';
import { recordSchedule } from './record-schedule.ts';

/**
 * Continue an import while there is time. First, read the archive from end to end, compare it with its file list,
 * and store its files. Then create the project in one transaction, and record its contents. So an archive with a
 * fault leaves nothing behind. Each step can be repeated, because all ids are derived from the import's id.
 *
 * The request that begins an import and the worker may run concurrently. The one that stores a step later stops.
 * Errors that it hit, such as files that the other one removed, do not fail the import.
 */
export async function runImport(
  context: ImportContext,
  begun: ProjectImport,
  hasTime: Deadline,
  log: Logger,
): Promise<void> {
  const pass: ImportPass = new Pass(begun, (previous, change, also) =>
    saveImport(context.records, previous, change, ...also),
  );
  try {
    await goOn(context, pass, hasTime).catch((error: unknown) => {
      if (error instanceof ConditionFailedError) throw error;
      return failed(context, pass, error, log);
    });
  } catch (error) {
    // Another pass continued the import.
    if (!(error instanceof ConditionFailedError)) throw error;
  }
}

async function goOn(context: ImportContext, pass: ImportPass, hasTime: Deadline): Promise<void> {
  const { records, objects, now } = context;
  const { stage, import_id, project_id, size } = pass.value;
  if (stage === 'removing') return removeRecorded(context, pass);
  if (stage === 'checking') {
    const purge = await records.get(purgeKey(import_id));
    const until = purge?.['again_at'];
    // Another pass may have created the project, which removes the purge. In that case, this failure is not
    // stored.
    if (typeof until !== 'string' || mayExpire(until, now()))
      throw new ProjectArchiveError(
        'It did not end within a day after its last step. Start the import again.',
      );
    await pass.save({}, putOffPurge(purgeOfImport(pass.value, keptUntil(now()))));
  }
  const archive = await openArchive(objects, importObject(project_id), size);
  if (stage === 'checking') {
    if (!(await checkArchive(context, pass, archive, hasTime))) return;
    await makeProject(context, pass, archive);
  }
  if (!(await recordAll(context, pass, archive, hasTime))) return;
  const object = importObject(project_id);
  const ended = { status: 'SUCCEEDED', status_reason: null, ended_at: now().toISOString() } as const;
  const purge = newPurge(context, { partitions: [], prefixes: [object] });
  await pass.save(ended, recordPurge(purge));
  await objects.delete([object]);
}

/**
 * Remove the records of an import that cannot continue, and end it. The failure is stored first, so no other pass
 * continues the import, and a crash only restarts the removal.
 */
async function removeRecorded(context: ImportContext, pass: ImportPass): Promise<void> {
  const { value } = pass;
  await removeRegistered(context, value);
  const [project] = (await findProjects(context.records, [value.project_id])).items;
  const remains = remainsOf(context, value);
  if (project !== undefined) await removeWholeProject(context, project, remains);
  await pass.save(failedNow(context), ...(project === undefined ? remains : []));
}

/** Purge the parts of an experiment that was being recorded. Its own record does not exist yet. */
const remainsOf = (context: ImportContext, { done, import_id, project_id }: ProjectImport): Write[] =>
  done > 0
    ? [
        recordPurge(
          newPurge(context, experimentRemains(project_id, importedId(import_id, 'experiment', done))),
        ),
      ]
    : [];

const failedNow = ({ now }: ImportContext) => ({ status: 'FAILED', ended_at: now().toISOString() }) as const;

/** The purge of an import's objects, due unless it creates a project. */
export const purgeOfImport = (
  { import_id, project_id, created_at, upload_id }: ProjectImport,
  again_at: string | null,
): Purge => ({
  ...newPurge(
    { newId: () => import_id, now: () => new Date(created_at) },
    {
      partitions: [],
      prefixes: [projectPrefix(project_id)],
      uploads: upload_id === null ? [] : [{ object: importObject(project_id), upload_id }],
    },
  ),
  again_at,
});

/**
 * Record the contents of the project: its own records first, then experiments, logged models, registered models, reports
 * and schedules.
 */
async function recordAll(
  context: ImportContext,
  pass: ImportPass,
  archive: OpenArchive,
  hasTime: Deadline,
): Promise<boolean> {
  const { experiments, models, registered, reports, schedules } = archive.contents;
  const begun = pass.value;
  const ids = idsOf(begun, { experiments: experiments.length, models: models.length });
  const inProject = 1 + experiments.length + models.length;
  const pages = inProject + registered.length;
  const times = pages + reports.length;
  const steps = times + schedules.length;
  /** @returns false if the project refuses it */
  const record = async (step: number): Promise<boolean> => {
    const done = step + 1;
    if (step >= times) return recordSchedule(context, pass, archive, step - times + 1, done);
    if (step >= pages) return recordReport(context, pass, archive, ids, step - pages + 1, done);
    if (step >= inProject) return recordRegistered(context, pass, archive, ids, step - inProject + 1, done);
    if (step > experiments.length)
      return recordModel(context, pass, archive, ids, step - experiments.length, done);
    // Each step saves the progress, so the removal knows which experiment may be recorded in part.
    if (step > 0) return recordExperiment(context, pass, archive, ids, step, done);
    const isRecorded = await tryWrite(recordBase(context, pass.value, archive));
    if (isRecorded) await pass.save({ done, failures: 0 });
    return isRecorded;
  };
  for (let step = begun.done; step < steps; step += 1) {
    if (!(await record(step))) throw await refusal(context, pass.value);
    if (!hasTime()) return false;
  }
  return true;
}

/** Explain why a condition on the project failed. */
async function refusal({ records }: ImportContext, { project_id }: ProjectImport) {
  const isThere = (await findProjects(records, [project_id])).items.length > 0;
  return new ProjectArchiveError(
    isThere
      ? 'The project reached its limit during the import.'
      : 'The project was deleted during the import.',
  );
}

async function failed(context: ImportContext, pass: ImportPass, error: unknown, log: Logger): Promise<void> {
  if (error instanceof ProjectArchiveError) return endFailed(context, pass, error.message);
  const { import_id, failures, stage } = pass.value;
  log.error('import-failed', { import_id, stack: errorStack(error) });
  // A removal is retried until it succeeds.
  if (failures + 1 >= maxPassesThatFail && stage !== 'removing')
    return endFailed(context, pass, 'It failed unexpectedly. The log of the service has the reason.');
  await pass.save({ failures: failures + 1 });
}

async function endFailed(context: ImportContext, pass: ImportPass, status_reason: string): Promise<void> {
  const { value } = pass;
  if (value.stage === 'checking') {
    const purge = purgeOfImport(value, null);
    // The purge may already have run, when the archive expired.
    await pass.save({ ...failedNow(context), status_reason }, recordPurge(purge));
    return;
  }
  await pass.save({ stage: 'removing', status_reason });
  await removeRecorded(context, pass);
}
