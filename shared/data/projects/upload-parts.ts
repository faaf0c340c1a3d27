import { type MultipartUploads, type PresignedPart, partBytesFor, partsOf } from '../../aws/multipart.ts';
import type { ObjectReader } from '../../aws/objects.ts';
import type { UploadParts } from './purge.ts';

/** Runs work that may begin an upload in parts. It is ended again where the work fails: nobody would know of it. */
export async function withNewParts<T>(
  objects: Pick<MultipartUploads, 'startParts' | 'abortParts'>,
  { object, size }: { object: string; size: number },
  work: (startParts: () => Promise<UploadParts>) => Promise<T>,
): Promise<T> {
  const begun: string[] = [];
  try {
    return await work(async () => {
      const upload_id = await objects.startParts(object);
      begun.push(upload_id);
      return { upload_id, part_bytes: partBytesFor(size), size };
    });
  } catch (error) {
    for (const upload_id of begun) await objects.abortParts(object, upload_id);
    throw error;
  }
}

/** How to send the parts that have not arrived; none where they were joined. */
export async function missingParts(
  objects: Pick<MultipartUploads, 'missingParts' | 'presignParts'>,
  object: string,
  { upload_id, part_bytes, size }: UploadParts,
): Promise<PresignedPart[]> {
  const missing = await objects.missingParts(object, upload_id, partsOf(size, part_bytes));
  return objects.presignParts(object, upload_id, missing ?? []);
}

/** Whether storage has given up what had arrived, as it does some days after an upload began; not where it was joined. */
export async function isGivenUp(
  objects: Pick<MultipartUploads, 'missingParts'> & Pick<ObjectReader, 'head'>,
  object: string,
  { upload_id, part_bytes, size }: UploadParts,
): Promise<boolean> {
  const missing = await objects.missingParts(object, upload_id, partsOf(size, part_bytes));
  return missing === undefined && (await objects.head(object))?.size !== size;
}

/**
 * Joins the parts of an upload.
 * @returns how many have not arrived; 0 also where they were joined before
 */
export async function joinParts(
  objects: Pick<MultipartUploads, 'completeParts'>,
  object: string,
  { upload_id, part_bytes, size }: UploadParts,
): Promise<number> {
  const missing = await objects.completeParts(object, upload_id, partsOf(size, part_bytes));
  return missing?.length ?? 0;
}
