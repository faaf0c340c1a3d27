import * as z from 'zod';
import { readObjects } from '../../../shared/aws/needs.ts';
import { within } from '../../../shared/core/needs.ts';
import { notFound, ServiceError } from '../../../shared/core/service-error.ts';
import type { OptimizationKind } from '../../../shared/data/jobs/job.ts';
import { isFinal } from '../../../shared/data/jobs/job-status.ts';
import { modelFileNames } from '../../../shared/data/models/model-file.ts';
import { readRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { redirect } from '../../../shared/http/definition/endpoint-output.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';
import { compressionPath, requireReachedCompression } from './compression-answer.ts';

/** The endpoint that downloads a compression's result. */
export const resultDownload = (kind: OptimizationKind) =>
  defineEndpoint({
    ...words[kind],
    method: 'GET',
    path: `/optimization/${kind}/strategies/{strategy_id}/model`,
    description:
      'Redirects to a URL that is valid for 15 minutes. It leads to the ONNX file, or to the external data file that `file` names.',
    allow: 'viewer',
    right: 'read',
    keepsToProjects: true,
    needs: { records: readRecords, objects: within(readObjects, { prefixes: ['strategies/'] }) },
    input: {
      path: compressionPath,
      query: z.strictObject({
        file: z.string().max(255).optional().describe('Name of an external data file, as in the ONNX file.'),
      }),
    },
    output: { 302: redirect },
    problems: ['conflict'],

    async handle({ path: { strategy_id }, query: { file } }, { records, objects, caller }) {
      const compression = await requireReachedCompression(records, caller, kind, strategy_id);
      const { status, result, model_name } = compression;
      if (!isFinal(status)) {
        throw new ServiceError(
          'conflict',
          `The strategy is ${status}; its result is available once it has succeeded.`,
        );
      }
      const found = result.find(({ name }) => name === (file ?? modelFileNames.model));
      if (found === undefined) throw notFound('result file', file ?? modelFileNames.model);
      // Only the ONNX file may have another name: the model refers to external data files by name.
      const name =
        file === undefined ? `${model_name.replace(/\.onnx$/, '')}-${strategy_id}.onnx` : found.name;
      return Reply.redirect(await objects.presignDownload(found.object, name, 'application/octet-stream'));
    },
  });

const words = {
  prune: { name: 'downloadPrunedModel', summary: 'Download the pruned model' },
  quantize: { name: 'downloadQuantizedModel', summary: 'Download the quantized model' },
} as const;
