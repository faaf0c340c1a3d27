import type { ObjectWriter } from '../aws/objects.ts';
import { findModel, type Model, modelPrefix, putModel, removeModel } from '../data/models/model.ts';
import { type Announced, closeAnnounced, forgetAnnounced, type Purge } from '../data/projects/purge.ts';
import type { TableWriter } from '../data/table/table.ts';
import { ConditionFailedError } from '../data/table/write-label.ts';

/**
 * Remove an upload that was not accepted in time: close its announcement, delete its object, then delete the
 * purge. After a crash in between, the next pass continues.
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
    // Another request accepted, announced or changed it at the same moment. The next pass checks again.
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

/** Prevent the acceptance of a client's file: the acceptance requires the announcement, and this removes it. */
async function closeArtifact({ records, now }: Purger, purge: Purge): Promise<boolean> {
  await records.write(closeAnnounced(purge, now));
  return true;
}

/** Prevent the acceptance of a project's upload. Return false if it was already accepted. */
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

/** Remove a file from the pending files of a model. Return false if it was already accepted. */
async function closeModelFile(
  { records, now }: Purger,
  purge: Purge,
  { model_name, object }: Of<'model'>,
): Promise<boolean> {
  const model = await findModel(records, model_name);
  // The file belonged to an earlier model with the same name.
  if (model === undefined || !object.startsWith(modelPrefix(model.model_id))) return true;
  if (model.files.some((file) => file.object === object)) return false;
  const pending = model.pending.filter((file) => file.object !== object);
  if (pending.length === model.pending.length) return true;
  const next = { ...model, pending, updated_at: now.toISOString(), version: model.version + 1 };
  // Announcing the same upload again keeps its object and the model's version, so also check the announcement.
  const closing = closeAnnounced(purge, now);
  if (isEmpty(next)) await records.write(...removeModel(model), closing);
  else await putModel(records, next, model, [closing]);
  return true;
}

/** Return whether the model has only announcements, and no files. */
const isEmpty = ({ status, origin, files, pending }: Model): boolean =>
  status === 'uploading' && origin.kind === 'upload' && files.length === 0 && pending.length === 0;
