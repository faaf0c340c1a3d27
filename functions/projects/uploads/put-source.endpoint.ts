import * as z from 'zod';
import { writeProjectObjects } from '../../../shared/aws/needs.ts';
import { badRequest } from '../../../shared/core/service-error.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { projectPath } from '../../../shared/http/definition/parameters.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';
import { acceptUpload } from './accept-upload.ts';
import { SourceAnswer, uploadedSha256 } from './upload.ts';
import { uploadedFormat } from './uploaded-format.ts';

function formatOfSource(head: Buffer) {
  const format = uploadedFormat(head);
  if (format !== undefined) return format;
  const message = 'the uploaded file is neither a tar.gz, a tar nor a zip archive';
  throw badRequest([{ in: 'query', name: 'sha256', message }]);
}

export const endpoint = defineEndpoint({
  name: 'putSource',
  method: 'PUT',
  path: '/projects/{project_id}/source',
  summary: 'Make an uploaded archive the current source',
  description: 'A tar.gz, tar or zip archive. Later experiments run with it. Earlier ones keep theirs.',
  allow: 'developer',
  project: 'developer',
  right: 'run',
  audit: { fields: ['sha256'] },
  needs: { records: writeRecords, objects: writeProjectObjects },
  input: { path: projectPath, query: z.strictObject({ sha256: uploadedSha256 }) },
  output: { 200: SourceAnswer },
  problems: ['conflict', 'precondition-failed'],
  etag: true,

  async handle({ query: { sha256 } }, context) {
    const wanted = { kind: 'source', name: 'source', sha256, format: formatOfSource } as const;
    const source = await acceptUpload(wanted, context);
    return Reply.json(source, { version: source.version });
  },
});
