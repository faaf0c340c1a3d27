import * as z from 'zod';
import { artifactPathMaxBytes } from '../experiments/artifact.ts';

/** A request by which storage takes a file or a part of it: to be sent with just these headers. */
const signedRequest = {
  url: z.string(),
  method: z.literal('PUT'),
  headers: z.record(z.string(), z.string()),
};

/** The ways to send a file; one of the two is null. `fields` are what each request has besides. */
export const signedUpload = <Fields extends z.ZodRawShape>(fields: Fields) => ({
  upload: z.object({ ...signedRequest, ...fields }).nullable(),
  parts: z
    .array(
      z.object({
        part_number: z.number().int(),
        offset: z.number().int().describe('Where in the file the part begins.'),
        size: z.number().int(),
        ...signedRequest,
        ...fields,
      }),
    )
    .nullable(),
});

/** Whether a path leads down from its folder, and is the only one that means its file. */
export const isSafePath = (path: string): boolean =>
  path.isWellFormed() &&
  !/[\\\0]/.test(path) &&
  path.split('/').every((segment) => segment !== '' && segment !== '.' && segment !== '..');

/** Path of a file of an experiment. */
export const ArtifactPath = z
  .string()
  .refine(
    (path) => Buffer.byteLength(path) <= artifactPathMaxBytes,
    `is longer than ${artifactPathMaxBytes} bytes`,
  )
  .refine(isSafePath, 'must be relative, without "..", "\\" and empty parts');

/** Bytes of a path that the key of a file has room for, beside the id of a model. */
export const clientPathMaxBytes = artifactPathMaxBytes - 30;
