import * as z from 'zod';
import { type Upload, uploadMaxBytes } from '../../shared/data/upload.ts';
import { FileId, integer, Sha256, Timestamp, Ulid } from '../../shared/endpoint/parameters.ts';

export const sourcePath = z.strictObject({ project_id: Ulid });
export const datasetPath = z.strictObject({ project_id: Ulid, dataset: FileId });

/** What is to be uploaded. */
export const uploadRequest = z.strictObject({ sha256: Sha256, size: integer(1, uploadMaxBytes) });

/** How to upload: one request with just these headers, before the URL dies. */
export const UploadTicket = z
  .object({
    upload: z.object({
      url: z.string(),
      method: z.literal('PUT'),
      headers: z.record(z.string(), z.string()),
      expires_in: z.number().int(),
    }),
    sha256: Sha256,
    size: z.number().int(),
  })
  .meta({ id: 'UploadTicket' });

/** The current source of a project. */
export const SourceAnswer = z
  .object({
    sha256: Sha256,
    size: z.number().int(),
    format: z.enum(['tar.gz', 'tar', 'zip', 'file']),
    updated_at: Timestamp,
  })
  .meta({ id: 'Source' });

/** The current version of a data set. */
export const DatasetAnswer = SourceAnswer.extend({ dataset: FileId }).meta({ id: 'Dataset' });

/** A data set as it is answered. */
export const showDataset = (upload: Upload): z.input<typeof DatasetAnswer> => ({
  ...upload,
  dataset: upload.name,
});
