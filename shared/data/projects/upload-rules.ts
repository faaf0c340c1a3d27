import * as z from 'zod';
import { artifactPathMaxBytes, StoredPath } from '../experiments/tracking-rules.ts';

/** Presigned request that uploads a file or a part of it. The client must send exactly these headers. */
const signedRequest = {
  url: z.string(),
  method: z.literal('PUT'),
  headers: z.record(z.string(), z.string()),
};

/** Two ways to send a file; one of them is null. `fields` are further fields of each request. */
export const signedUpload = <Fields extends z.ZodRawShape>(fields: Fields) => ({
  upload: z.object({ ...signedRequest, ...fields }).nullable(),
  parts: z
    .array(
      z.object({
        part_number: z.number().int(),
        offset: z.number().int().describe('Offset of the part in the file.'),
        size: z.number().int(),
        ...signedRequest,
        ...fields,
      }),
    )
    .nullable(),
});

/** Whether a path stays below its folder and is in canonical form. */
export const isSafePath = (path: string): boolean =>
  path.isWellFormed() &&
  !/[\\\0]/.test(path) &&
  path.split('/').every((segment) => segment !== '' && segment !== '.' && segment !== '..');

/** Path of a file of an experiment. */
export const ArtifactPath = StoredPath.refine(
  isSafePath,
  'must be relative, without "..", "\\" and empty parts',
);

/** Maximum bytes of a client's path. The key of a file also contains the id of a model. */
export const clientPathMaxBytes = artifactPathMaxBytes - 30;
