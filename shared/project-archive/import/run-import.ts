import type { Deadline } from '../../core/deadline.ts';
import type { Logger } from '../../core/log.ts';
import { experimentRemains } from '../../data/experiment.ts';
import { findProjects, projectPrefix } from '../../data/project.ts';
import {
  findImport,
  importObject,
  type ProjectImport,
  putOffPurge,
  saveImport,
} from '../../data/project-import.ts';
import { newPurge, type Purge, purgeKey, recordPurge } from '../../data/purge.ts';
import type { Write } from '../../data/table.ts';
import { ConditionFailedError } from '../../data/write-label.ts';
import { removeWholeProject } from '../../purge/remove-project.ts';
import { keptUntil, mayExpire, passesThatFailMost } from '../keeping.ts';
import { ProjectArchiveError } from '../project-archive-error.ts';
import { checkArchive } from './check-archive.ts';
import { type ImportContext, idsOf, importedId } from './import-context.ts';
import { type OpenArchive, openArchive } from './open-archive.ts';
import { recordExperiment } from './record-experiment.ts';
import { recordModel } from './record-model.ts';
import { makeProject, recordBase } from './record-project.ts';
import { recordRegistered } from './record-registered.ts';
import { removeRegistered } from './remove-registered.ts';

/** The purge of what an import leaves unless it makes a project, due then. */
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

const projectGone = () => new ProjectArchiveError('The project was deleted while it was imported.');

/** Record what is in the project: the project's own first, then experiments, logged models, registered models. */
async function recordAll(
  context: ImportContext,
  begun: ProjectImport,
  archive: OpenArchive,
  hasTime: Deadline,
): Promise<{ value: ProjectImport; isDone: boolean }> {
  const { records } = context;
  const { experiments, models, registered } = archive.contents;
  const ids = idsOf(begun, { experiments: experiments.length, models: models.length });
  const inProject = 1 + experiments.length + models.length;
  const steps = inProject + registered.length;
  let value = begun;
  for (let step = begun.done; step < steps; step += 1) {
    if (step >= inProject) {
      const next = await recordRegistered(context, value, archive, ids, step - inProject + 1, step + 1);
      if (next === undefined) throw projectGone();
      value = next;
      if (!hasTime()) return { value, isDone: false };
      continue;
    }
    if (step === 0) {
      await recordBase(context, value, archive).catch((error: unknown) => {
        throw error instanceof ConditionFailedError ? projectGone() : error;
      });
    } else {
      const isThere =
        step <= experiments.length
          ? await recordExperiment(context, value, archive, ids, step)
          : await recordModel(context, value, archive, ids, step - experiments.length);
      if (!isThere) throw projectGone();
    }
    // After each step, so that it is known which experiment may be recorded in part.
    value = await saveImport(records, value, { done: step + 1, failures: 0 });
    if (!hasTime()) return { value, isDone: false };
  }
  return { value, isDone: true };
}

/** What is to be removed of an experiment that was being recorded: its record is not there. */
const remainsOf = (context: ImportContext, { stage, done, import_id, project_id }: ProjectImport): Write[] =>
  stage === 'recording' && done > 0
    ? [
        recordPurge(
          newPurge(context, experimentRemains(project_id, importedId(import_id, 'experiment', done))),
        ),
      ]
    : [];

async function endFailed(context: ImportContext, value: ProjectImport, reason: string): Promise<void> {
  const { records, now } = context;
  const ended = { status: 'FAILED', status_reason: reason, ended_at: now().toISOString() } as const;
  if (value.stage === 'checking') {
    const purge = purgeOfImport(value, null);
    // It may have been worked off already, when the archive expired.
    await saveImport(records, value, ended, recordPurge(purge));
    return;
  }
  await removeRegistered(context, value);
  const [project] = (await findProjects(records, [value.project_id])).items;
  if (project !== undefined) await removeWholeProject(context, project, remainsOf(context, value));
  await saveImport(records, value, ended, ...(project === undefined ? remainsOf(context, value) : []));
}

async function failed(context: ImportContext, value: ProjectImport, error: unknown, log: Logger) {
  if (error instanceof ProjectArchiveError) return endFailed(context, value, error.message);
  const failures = value.failures + 1;
  const { import_id } = value;
  log.error('import-failed', { import_id, stack: error instanceof Error ? error.stack : '' });
  if (failures >= passesThatFailMost)
    return endFailed(context, value, 'It failed for a reason that the log of the service names.');
  await saveImport(context.records, value, { failures });
}

async function goOn(context: ImportContext, begun: ProjectImport, hasTime: Deadline): Promise<void> {
  const { records, objects, now } = context;
  let value = begun;
  if (value.stage === 'checking') {
    const purge = await records.get(purgeKey(value.import_id));
    const until = purge?.['again_at'];
    if (typeof until !== 'string' || mayExpire(until, now()))
      throw new ProjectArchiveError(
        'It was not finished within a day after its last step. Begin the import again.',
      );
    value = await saveImport(records, value, {}, putOffPurge(purgeOfImport(value, keptUntil(now()))));
  }
  const archive = await openArchive(objects, importObject(value.project_id), value.size);
  if (value.stage === 'checking') {
    const checked = await checkArchive(context, value, archive, hasTime);
    if (!checked.isDone) return;
    value = await makeProject(context, checked.value, archive);
  }
  const recorded = await recordAll(context, value, archive, hasTime);
  if (!recorded.isDone) return;
  const object = importObject(value.project_id);
  const ended = { status: 'SUCCEEDED', status_reason: null, ended_at: now().toISOString() } as const;
  const purge = newPurge(context, { partitions: [], prefixes: [object] });
  await saveImport(records, recorded.value, ended, recordPurge(purge));
  await objects.delete([object]);
}

/**
 * Go on with an import while there is time. First the archive is read from end to end, compared with its list of files,
 * and its files are stored; then, in one transaction, the project is made, and what is in it is recorded. So an archive
 * with a fault leaves nothing. Each step can be repeated, since all ids are made of the import's own.
 */
export async function runImport(
  context: ImportContext,
  begun: ProjectImport,
  hasTime: Deadline,
  log: Logger,
): Promise<void> {
  const { records } = context;
  const { user_id, sha256, import_id } = begun;
  try {
    await goOn(context, begun, hasTime);
  } catch (error) {
    // Somebody else went on with it.
    if (error instanceof ConditionFailedError) return;
    const present = await findImport(records, user_id, sha256);
    if (present?.import_id !== import_id || present.status !== 'RUNNING') return;
    await failed(context, present, error, log).catch((later: unknown) => {
      if (!(later instanceof ConditionFailedError)) throw later;
    });
  }
}
