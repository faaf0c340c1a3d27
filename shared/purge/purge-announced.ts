import type { ObjectWriter } from '../aws/objects.ts';
import { findModel, type Model, modelPrefix, putModel, removeModel } from '../data/models/model.ts';
import { type Announced, closeAnnounced, forgetAnnounced, type Purge } from '../data/projects/purge.ts';
import type { TableWriter } from '../data/table/table.ts';
import { ConditionFailedError } from '../data/table/write-label.ts';

/**
 * Remove what was uploaded for an announcement that was not accepted within its time: first it can no longer be
 * accepted, then its object goes, then the purge is forgotten. A crash in between makes the next pass go on.
 */
export async function purgeAnnounced(purger: Purger, purge: Purge, announced: Announced): Promise<void> {
  const { records, objects } = purger;
  try {
    if (await close(purger, purge, announced)) {
      const uploadId = announced.of === 'project' ? announced.parts?.upload_id : announced.upload_id;
      if (typeof uploadId === 'string') await objects.abortParts(announced.object, uploadId);
      await objects.delete([announced.object]);
    }
    await records.write(forgetAnnounced(purge));
  } catch (error) {
    // It was accepted, announced again or changed at the same moment; the next pass looks again.
    if (!(error instanceof ConditionFailedError)) throw error;
  }
}

interface Purger {
  records: TableWriter<'records'>;
  objects: Pick<ObjectWriter, 'delete' | 'abortParts'>;
  now: Date;
}

function close(purger: Purger, purge: Purge, announced: Announced): Promise<boolean> {
  if (announced.of === 'artifact') return closeArtifact(purger, purge);
  return announced.of === 'project'
    ? closeUpload(purger, purge, announced)
    : closeModelFile(purger, purge, announced);
}

/** Keep a file of a client from being accepted any more: its acceptance takes the announcement away. */
async function closeArtifact({ records, now }: Purger, purge: Purge): Promise<boolean> {
  await records.write(closeAnnounced(purge, now));
  return true;
}

/** Keep an upload of a project from being accepted any more. False where it was accepted. */
async function closeUpload(
  { records, now }: Purger,
  purge: Purge,
  { blob }: Of<'project'>,
): Promise<boolean> {
  if (purge.removing_at !== undefined) return true;
  if ((await records.get(blob)) !== undefined) return false;
  await records.write({ check: blob, if: { exists: false } }, closeAnnounced(purge, now));
  return true;
}

type Of<K extends Announced['of']> = Extract<Announced, { of: K }>;

/** Take a file out of those that a model waits for. False where it was accepted. */
async function closeModelFile(
  { records, now }: Purger,
  purge: Purge,
  { model_name, object }: Of<'model'>,
): Promise<boolean> {
  const model = await findModel(records, model_name);
  // A later model of the name has nothing to do with it.
  if (model === undefined || !object.startsWith(modelPrefix(model.model_id))) return true;
  if (model.files.some((file) => file.object === object)) return false;
  const pending = model.pending.filter((file) => file.object !== object);
  if (pending.length === model.pending.length) return true;
  const next = { ...model, pending, updated_at: now.toISOString(), version: model.version + 1 };
  // An upload that is announced again keeps its place and leaves the model's version as it is.
  const closing = closeAnnounced(purge, now);
  if (isEmpty(next)) await records.write(...removeModel(model), closing);
  else await putModel(records, next, model, [closing]);
  return true;
}

/** Whether nothing but the announcement made this model. */
const isEmpty = ({ status, origin, files, pending }: Model): boolean =>
  status === 'uploading' && origin.kind === 'upload' && files.length === 0 && pending.length === 0;
