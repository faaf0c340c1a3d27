import { listClientArtifacts, removeClientArtifacts } from '../data/experiments/client-artifact.ts';
import {
  type LoggedModel,
  loggedModelFilesPartition,
  loggedModelFilesPrefix,
  loggedModelPrefix,
  removeLoggedModel,
} from '../data/experiments/logged-model.ts';
import { newPurge, recordPurge } from '../data/projects/purge.ts';
import type { TableWriter, Write } from '../data/table/table.ts';
import type { Removed } from './remove-experiment.ts';

/** Files that one transaction takes away. */
const filesAtOnce = 40;

interface Removing {
  records: TableWriter<'records'>;
  newId(): string;
  now(): Date;
}

/**
 * Take a logged model out of every read: its files first, some at a time, each with its part of the project's counts, and
 * then the model itself. Purges of what they leave are recorded. A crash between two leaves a model with fewer files.
 * @param also further writes of the last transaction
 * @throws ConditionFailedError where the model was changed meanwhile
 * @throws UnreadableRecordError where a file's record cannot be read, so that nobody knows what it counted
 */
export async function removeWholeLoggedModel(
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
