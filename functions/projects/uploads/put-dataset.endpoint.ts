import * as z from 'zod';
import { writeProjectObjects } from '../../../shared/aws/needs.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';
import { acceptUpload } from './accept-upload.ts';
import { DatasetAnswer, datasetPath, showDataset, uploadedSha256 } from './upload.ts';
import { uploadedFormat } from './uploaded-format.ts';

export const endpoint = defineEndpoint({
  name: 'putDataset',
  method: 'PUT',
  path: '/projects/{project_id}/datasets/{dataset}',
  summary: 'Make an uploaded file the current version of a data set',
  description:
    'A tar.gz, tar or zip archive is recognised by its contents and unpacked for experiments; any other file is stored unchanged. With `format=file`, an archive stays unchanged too, as zip-based formats such as .npz need.',
  allow: 'developer',
  project: 'developer',
  right: 'run',
  audit: { fields: ['sha256'] },
  needs: { records: writeRecords, objects: writeProjectObjects },
  input: {
    path: datasetPath,
    query: z.strictObject({
      sha256: uploadedSha256,
      format: z
        .literal('file', 'must be file, or absent to detect an archive by its contents')
        .optional()
        .describe('`file` prevents the unpacking of an archive.'),
    }),
  },
  output: { 200: DatasetAnswer },
  problems: ['conflict', 'precondition-failed'],
  etag: true,

  async handle({ path: { dataset }, query }, context) {
    const format = (head: Buffer) => query.format ?? uploadedFormat(head) ?? 'file';
    const wanted = { kind: 'dataset', name: dataset, sha256: query.sha256, format } as const;
    const accepted = await acceptUpload(wanted, context);
    return Reply.json(showDataset(accepted), { version: accepted.version });
  },
});
