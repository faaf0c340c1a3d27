import * as z from 'zod';
import { FileId, Sha256, Timestamp } from '../../../shared/core/formats.ts';
import { ServiceError } from '../../../shared/core/service-error.ts';
import { ProjectBytesError } from '../../../shared/data/projects/project.ts';
import { partedMaxBytes, type Upload } from '../../../shared/data/projects/upload.ts';
import { signedUpload } from '../../../shared/data/projects/upload-rules.ts';
import { flag, integer, projectId } from '../../../shared/http/definition/parameters.ts';

/** Path parameters of every operation on one data set. */
export const datasetPath = z.strictObject({
  project_id: projectId,
  dataset: FileId.describe('Name of the data set, such as `digits`.'),
});

/** Digest of the upload that a request accepts. */
export const uploadedSha256 = Sha256.describe('SHA-256 digest for which the upload URL was requested.');

/** Query of a request for an upload. */
export const uploadRequest = z.strictObject({
  sha256: Sha256.describe('SHA-256 digest of the file to upload: 64 lower-case hexadecimal digits.'),
  size: integer(1, partedMaxBytes).describe('Bytes of the file to upload, such as `48213`.'),
  multipart: flag
    .optional()
    .describe('Whether to upload in parts: `true` or `false`; above 5 GB always `true`.'),
});

/**
 * How to upload a file: by one request, or by one request for each missing part. The other field is null. The
 * single request must have exactly these headers, and must begin before the URL expires.
 */
export const UploadTicket = z
  .object({
    ...signedUpload({ expires_in: z.number().int() }),
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

/** Show a data set as the API returns it. */
export const showDataset = (upload: Upload): z.input<typeof DatasetAnswer> => ({
  ...upload,
  dataset: upload.name,
});

/** Throw a 409 problem if an upload does not fit into a project. Rethrow any other error. */
export function refuseBytes(error: unknown): never {
  if (error instanceof ProjectBytesError) throw new ServiceError('conflict', error.message);
  throw error;
}
