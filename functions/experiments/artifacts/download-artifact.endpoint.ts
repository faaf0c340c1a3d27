import * as z from 'zod';
import { readProjectObjects } from '../../../shared/aws/needs.ts';
import { notFound } from '../../../shared/core/service-error.ts';
import { findArtifact } from '../../../shared/data/experiments/artifact.ts';
import { requireExperiment } from '../../../shared/data/experiments/experiment.ts';
import { StoredPath } from '../../../shared/data/experiments/tracking-rules.ts';
import { readRecords } from '../../../shared/data/table/needs.ts';
import { experimentPath } from '../../../shared/experiments/experiment-path.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { redirect } from '../../../shared/http/definition/endpoint-output.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';
import { fileKind } from './artifact.ts';

export const endpoint = defineEndpoint({
  name: 'downloadArtifact',
  method: 'GET',
  path: '/projects/{project_id}/experiments/{experiment_id}/artifacts/{path+}',
  summary: 'Download an artifact of the experiment',
  description:
    'Redirects to a URL that is valid for 15 minutes. A trailing slash is part of the path. `disposition=inline` lets a browser show a PDF instead of saving it.',
  allow: 'viewer',
  project: 'viewer',
  needs: { records: readRecords, objects: readProjectObjects },
  input: {
    path: experimentPath.extend({
      path: StoredPath.describe('Path of the artifact below `OUTPUT_DIR`, such as `model/weights.npz`.'),
    }),
    query: z.strictObject({
      kind: fileKind,
      disposition: z
        .enum(['attachment', 'inline'])
        .default('attachment')
        .describe('`inline` is for PDF files. All other files are saved.'),
    }),
  },
  output: { 302: redirect },

  async handle({ path, query: { kind, disposition } }, { records, objects }) {
    await requireExperiment(records, path.project_id, path.experiment_id);
    const artifact = await findArtifact(records, path.experiment_id, path.path, kind);
    if (artifact === undefined) throw notFound(kind, path.path);
    const fileName = artifact.path.split('/').at(-1) ?? artifact.path;
    // Other media types could run scripts at the address of the storage.
    const isInline = disposition === 'inline' && artifact.media_type === 'application/pdf';
    return Reply.redirect(
      await objects.presignDownload(
        artifact.object,
        fileName,
        artifact.media_type,
        isInline ? 'inline' : 'attachment',
      ),
    );
  },
});
