import * as z from 'zod';

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
