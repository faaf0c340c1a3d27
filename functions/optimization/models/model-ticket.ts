import * as z from 'zod';
import type { ObjectWriter } from '../../../shared/aws/objects.ts';
import { uploadSeconds } from '../../../shared/aws/upload-seconds.ts';
import type { PendingFile } from '../../../shared/data/models/model-file.ts';
import { missingParts } from '../../../shared/data/projects/upload.ts';
import { signedUpload } from '../../../shared/data/rules/upload.ts';
import { ModelDetails } from './model-answer.ts';

/**
 * A model, and how to send what it waits for: in one request, or each part that has not arrived in one of its own. Both
 * are null where nothing is to be sent.
 */
export const ModelTicket = z
  .object({
    model: ModelDetails,
    ...signedUpload({}),
    /** Seconds until the URLs die; ask again for new ones. */
    expires_in: z.number().int().nullable(),
  })
  .meta({ id: 'ModelTicket' });

type Ticket = Omit<z.input<typeof ModelTicket>, 'model'>;

/** How to send a file; nothing where there is none to send. */
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
