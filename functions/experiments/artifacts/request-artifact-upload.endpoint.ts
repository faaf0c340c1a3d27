import * as z from 'zod';
import { writeProjectObjects } from '../../../shared/aws/needs.ts';
import { Sha256 } from '../../../shared/core/formats.ts';
import { clientObject } from '../../../shared/data/experiments/client-artifact.ts';
import { announce } from '../../../shared/data/projects/purge.ts';
import { uploadMaxBytes } from '../../../shared/data/projects/upload.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { requireArtifactRoom } from '../../../shared/experiments/accept-artifact.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { integer } from '../../../shared/http/definition/parameters.ts';
import { requireLogged, uploadedPath, uploadId } from './artifact.ts';

const ArtifactTicket = z
  .object({
    upload: z.object({
      url: z.string(),
      method: z.literal('PUT'),
      headers: z.record(z.string(), z.string()),
      expires_in: z.number().int(),
    }),
    upload_id: uploadId,
    sha256: Sha256,
    size: z.number().int(),
  })
  .meta({ id: 'ArtifactTicket' });

export const endpoint = defineEndpoint({
  name: 'requestArtifactUpload',
  method: 'POST',
  path: '/projects/{project_id}/experiments/{experiment_id}/artifacts/{path+}',
  summary: 'Get an upload URL for a file of a logged experiment',
  description:
    'Send the file with the method, the URL and exactly the headers of the response; storage refuses other bytes. Then PUT here with the `upload_id`. An upload that is not accepted within a day is removed.',
  allow: 'developer',
  project: 'developer',
  right: 'record',
  audit: { hourly: true },
  needs: { records: writeRecords, objects: writeProjectObjects },
  input: {
    path: uploadedPath,
    query: z.strictObject({
      sha256: Sha256.describe('SHA-256 digest of the file to upload: 64 lower-case hexadecimal digits.'),
      size: integer(0, uploadMaxBytes).describe('Bytes of the file to upload, such as `48213`.'),
    }),
  },
  output: { 200: ArtifactTicket },
  problems: ['conflict'],
  idempotent: { kind: 'signs', table: 'records' },

  async handle({ path, query: { sha256, size } }, context) {
    const { records, objects, newId, now } = context;
    const home = await requireLogged(records, path);
    await requireArtifactRoom(context, home.project_id, size);
    const upload_id = newId();
    const object = clientObject(home, upload_id);
    await records.write(announce({ of: 'artifact', object, upload_id: null }, now()));
    return { upload: await objects.presignUpload(object, size, sha256), upload_id, sha256, size };
  },
});
