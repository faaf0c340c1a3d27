import * as z from 'zod';
import { decodePathVariable } from '../../http/body/percent-encoding.ts';
import type { LargeBodies } from '../../http/definition/endpoint-input.ts';

const upload = /^((?:ajax-)?api\/2\.0\/mlflow-artifacts\/)artifacts\/(.+)\/([^/]+)$/;

const Begun = z.object({
  upload_id: z.string(),
  credentials: z.array(z.object({ url: z.string() })).length(1),
});

/** A file that is too large for a Lambda event becomes the only part of a multipart upload. */
export const largeBodies: LargeBodies = {
  begin({ method, path }) {
    const [, root, folder, file] = upload.exec(path) ?? [];
    if (method !== 'PUT' || root === undefined || folder === undefined || file === undefined)
      return undefined;
    const name = decodePathVariable(file);
    if (name === undefined) return undefined;
    const named = { path: name };
    return {
      path: `${root}mpu/create/${folder}`,
      body: { ...named, num_parts: 1 },
      proceed(answer) {
        const { upload_id, credentials } = Begun.parse(answer);
        return {
          url: credentials[0]?.url ?? '',
          path: `${root}mpu/complete/${folder}`,
          body: { ...named, upload_id, parts: [{ part_number: 1 }] },
        };
      },
    };
  },
};
