import * as z from 'zod';
import type { ObjectWriter } from '../../../shared/aws/objects.ts';
import { uploadSeconds } from '../../../shared/aws/upload-seconds.ts';
import type { PendingFile } from '../../../shared/data/models/model-file.ts';
import { missingParts } from '../../../shared/data/projects/upload.ts';
import { signedUpload } from '../../../shared/data/rules/upload.ts';
import { ModelDetails } from './model-answer.ts';

/**
 * A model, and how to upload its next file: in one request, or in one request for each missing part. Both are null
 * if there is nothing to upload.
 */
export const ModelTicket = z
  .object({
    model: ModelDetails,
    ...signedUpload({}),
    /** Seconds until the URLs expire. Repeat the request for new ones. */
    expires_in: z.number().int().nullable(),
  })
  .meta({ id: 'ModelTicket' });

type Ticket = Omit<z.input<typeof ModelTicket>, 'model'>;

/** Return how to upload a file; all fields are null without a file. */
export async function ticketFor(objects: ObjectWriter, file: PendingFile | undefined): Promise<Ticket> {
  if (file === undefined) return { upload: null, parts: null, expires_in: null };
  const { object, size, sha256, parts } = file;
  if (parts === null) {
    const { url, method, headers } = await objects.presignUpload(object, size, sha256);
    return { upload: { url, method, headers }, parts: null, expires_in: uploadSeconds };
  }
  const urls = await missingParts(objects, object, { ...parts, size });
  return { upload: null, parts: urls, expires_in: uploadSeconds };
}
