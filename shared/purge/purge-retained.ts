import type { Deadline } from '../core/deadline.ts';
import { errorStack } from '../core/error-text.ts';
import type { Logger } from '../core/log.ts';
import { ServiceError } from '../core/service-error.ts';
import { listClientArtifacts, removeClientArtifacts } from '../data/experiments/client-artifact.ts';
import { findContinuation } from '../data/experiments/continuation.ts';
import { requireExperimentToRemove } from '../data/experiments/experiment.ts';
import {
  findLoggedModel,
  type LoggedModel,
  loggedModelFilesPartition,
  loggedModelFilesPrefix,
  loggedModelPrefix,
  removeLoggedModel,
} from '../data/experiments/logged-model.ts';
import { findFields } from '../data/experiments/tracking.ts';
import { logSetAside, setAside } from '../data/lists/watched-list.ts';
import { findProjects } from '../data/projects/project.ts';
import {
  dropRetained,
  listDue,
  lookAgain,
  newPurge,
  type Retained,
  recordPurge,
} from '../data/projects/purge.ts';
import type { TableWriter, Write } from '../data/table/table.ts';
import { ConditionFailedError } from '../data/table/write-label.ts';
import { type Removed, removeOneExperiment } from './remove-experiment.ts';
import { removeWholeProject } from './remove-project.ts';

/**
 * Remove items that were marked as deleted 30 days ago and not restored. Log a receipt of each with its identity
 * and contents. The recorded purges remove the objects.
 */
export async function purgeRetained(context: Retention, hasTime: Deadline): Promise<void> {
  const { records, now, log } = context;
  let after: string | undefined;
  do {
    const due = await listDue(records, now(), after);
    for (const row of due.unreadable) if (await setAside(records, row, now())) logSetAside(log, row);
    for (const item of due.items) {
      const { key, ...marked } = item;
      try {
        const outcome = await settle(context, item);
        if (outcome === 'waits') await records.write(lookAgain(item, now()));
        else if (outcome === 'restored') await records.write(dropRetained(item));
        else
          log.info('retention-ended', {
            ...marked,
            objects: outcome.removed.objects,
            bytes: outcome.removed.bytes,
          });
      } catch (error) {
        // A failed row must not block the others.
        log.error('purge-failed', { id: key.sk, stack: errorStack(error) });
        await records.write(lookAgain(item, now()));
      }
    }
    after = due.next;
  } while (after !== undefined && hasTime());
  // Time ran out. This write makes the stream start the next pass.
  const [next] = after === undefined ? [] : (await listDue(records, now(), after)).items;
  if (next !== undefined) await records.write(lookAgain(next, now()));
}

interface Retention {
  records: TableWriter<'records'>;
  newId(): string;
  now(): Date;
  log: Logger;
}

/**
 * Remove the item of one row. The last transaction removes the item together with the row, so a crash leaves both
 * or none.
 */
async function settle(context: Retention, retained: Retained): Promise<Outcome> {
  try {
    const { experiment_id, model_id } = retained;
    if (model_id !== undefined) return await removeMarkedModel(context, retained, model_id);
    return experiment_id === null
      ? await removeMarkedProject(context, retained)
      : await removeMarkedExperiment(context, retained, experiment_id);
  } catch (error) {
    // Another request changed it at the same moment.
    if (error instanceof ConditionFailedError) return 'waits';
    if (error instanceof ServiceError && error.kind === 'not-found') return 'restored';
    throw error;
  }
}

/** Outcome for a row: its item was removed, its item was restored, or it has to wait. */
type Outcome = { removed: Removed } | 'restored' | 'waits';

async function removeMarkedModel(context: Retention, retained: Retained, model_id: string): Promise<Outcome> {
  const model = await findLoggedModel(context.records, retained.project_id, model_id);
  if (model?.deleted_at !== retained.deleted_at) return 'restored';
  return { removed: await removeWholeLoggedModel(context, model, [dropRetained(retained)]) };
}

/**
 * Remove a logged model: its files first, in batches, each with its part of the project's counts, then the model
 * itself. Record purges of the objects. A crash in between leaves a model with fewer files.
 * @param also further writes of the last transaction
 * @throws ConditionFailedError if the model was changed in between
 * @throws UnreadableRecordError if the record of a file is unreadable, so its part of the counts is unknown
 */
async function removeWholeLoggedModel(
  context: Removing,
  model: LoggedModel,
  also: readonly Write[] = [],
): Promise<Removed> {
  const { records } = context;
  const { project_id, model_id } = model;
  const home = { of: 'model', project_id, model_id } as const;
  const removed = { objects: 0, bytes: 0 };
  for (;;) {
    const { items, unreadable } = await listClientArtifacts(records, home, '', { limit: filesAtOnce });
    const [error] = unreadable ?? [];
    if (error !== undefined) throw error;
    if (items.length === 0) break;
    await removeClientArtifacts(records, home, items, context);
    removed.objects += items.length;
    for (const { size } of items) removed.bytes += size;
  }
  const target = {
    partitions: [{ pk: loggedModelFilesPartition(project_id), prefix: loggedModelFilesPrefix(model_id) }],
    prefixes: [loggedModelPrefix(project_id, model_id)],
  };
  await records.write(removeLoggedModel(model), recordPurge(newPurge(context, target)), ...also);
  return removed;
}

interface Removing {
  records: TableWriter<'records'>;
  newId(): string;
  now(): Date;
}

/** Maximum number of files that one transaction removes. */
const filesAtOnce = 40;

async function removeMarkedProject(context: Retention, retained: Retained): Promise<Outcome> {
  const [project] = (await findProjects(context.records, [retained.project_id])).items;
  if (project?.deleted_at !== retained.deleted_at) return 'restored';
  const removed = await removeWholeProject(context, project, [dropRetained(retained)]);
  return removed === undefined ? 'restored' : { removed };
}

async function removeMarkedExperiment(
  context: Retention,
  retained: Retained,
  experiment_id: string,
): Promise<Outcome> {
  const { records } = context;
  const { project_id, deleted_at } = retained;
  const fields = await findFields(records, project_id, experiment_id);
  if (fields?.deleted_at !== deleted_at) return 'restored';
  const { experiment, hasEnded, removable } = await requireExperimentToRemove(
    records,
    project_id,
    experiment_id,
  );
  // An experiment that a client records may never end. Wait for a running job, and for a job that starts from its
  // checkpoints.
  const mayGo = hasEnded || experiment.kind === 'logged';
  if (!mayGo || (await findContinuation(records, experiment_id)) !== undefined) return 'waits';
  // A restore changes the experiment's version, so this write fails if the restore came first.
  const { version } = experiment;
  const still = hasEnded
    ? { ...removable, equals: { ...removable.equals, version } }
    : { equals: { version } };
  const { removed } = await removeOneExperiment(context, experiment, still, [dropRetained(retained)]);
  return { removed };
}
