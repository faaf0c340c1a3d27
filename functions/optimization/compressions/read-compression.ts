import { observeBatch } from '../../../shared/aws/needs.ts';
import { notFound } from '../../../shared/core/service-error.ts';
import type { OptimizationKind } from '../../../shared/data/jobs/job.ts';
import { readReceipt } from '../../../shared/data/models/compression.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { preferredMediaType } from '../../../shared/http/body/accept.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { content } from '../../../shared/http/definition/endpoint-output.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';
import { observeWhenStale } from '../../../shared/jobs/observe-when-stale.ts';
import { placeOneInLine } from '../../../shared/jobs/waiting-queue.ts';
import { Receipt } from '../../../shared/onnx/receipt/receipt.ts';
import {
  compressionAnswers,
  compressionPath,
  requireReachedCompression,
  showCompression,
} from './compression-answer.ts';

const words = {
  prune: { name: 'readPruneStrategy', summary: 'Details of a pruning, with its receipt' },
  quantize: { name: 'readQuantizeStrategy', summary: 'Details of a quantization, with its receipt' },
} as const;

const receipt = { receipt: Receipt.nullable() };

/** Draw the receipt's page. The import is lazy, because most readers want JSON. */
async function drawn(receipt: Receipt): Promise<string> {
  const { renderReceipt } = await import('../../../shared/onnx/receipt/render-receipt.ts');
  return renderReceipt(receipt);
}

const detailsOf = (kind: OptimizationKind) =>
  kind === 'prune'
    ? compressionAnswers.prune.extend(receipt).meta({ id: 'PruneStrategyDetails' })
    : compressionAnswers.quantize.extend(receipt).meta({ id: 'QuantizeStrategyDetails' });

/** The endpoint that reads one compression with its receipt, or the receipt's page. */
export const readCompressionEndpoint = (kind: OptimizationKind) =>
  defineEndpoint({
    ...words[kind],
    method: 'GET',
    path: `/optimization/${kind}/strategies/{strategy_id}`,
    description:
      'Returns JSON, or the receipt as an SVG page, depending on `Accept`. Compares an unfinished strategy with AWS Batch first, unless that was done in the last 30 seconds.',
    allow: 'viewer',
    right: 'read',
    keepsToProjects: true,
    needs: { records: writeRecords, batch: observeBatch },
    input: { path: compressionPath },
    writes: 'compares an unfinished strategy with Batch, and writes down what it finds',
    output: { 200: content(['image/svg+xml'], detailsOf(kind)) },
    etag: true,

    async handle({ path: { strategy_id } }, { records, batch, settings, now, log, header, caller }) {
      const read = () => requireReachedCompression(records, caller, kind, strategy_id);
      const found = await read();
      const compared = await observeWhenStale({ records, batch, now }, found, log);
      const compression = await placeOneInLine(records, settings.limits, compared ? await read() : found);
      const stored = await readReceipt(records, strategy_id, compression.receipt_parts);
      const receipt = stored === undefined ? null : Receipt.parse(stored);
      const extras = { headers: { Vary: 'Accept' }, version: compression.version };
      if (preferredMediaType(header('accept'), ['application/json', 'image/svg+xml']) === 'image/svg+xml') {
        if (receipt === null) throw notFound(`receipt of ${kind} strategy`, strategy_id);
        return Reply.content('image/svg+xml; charset=utf-8', await drawn(receipt), extras);
      }
      return Reply.json({ ...showCompression(compression, now()), receipt }, extras);
    },
  });
