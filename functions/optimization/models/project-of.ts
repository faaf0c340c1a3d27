import { OptimizationKind } from '../../../shared/data/jobs/job.ts';
import { compressionKey, parseCompression } from '../../../shared/data/models/compression.ts';
import type { Model } from '../../../shared/data/models/model.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';

/**
 * Return the project of the experiment that a model comes from, directly or through compressions; null without one. The
 * compression has noted it: the name of the model that was compressed may be another model's by now.
 */
export async function projectOf(
  records: TableReader<'records'>,
  { origin }: Pick<Model, 'origin'>,
): Promise<string | null> {
  if (origin.kind === 'artifact') return origin.project_id;
  if (origin.kind === 'upload') return null;
  const keys = OptimizationKind.options.map((kind) => compressionKey(kind, origin.strategy_id));
  const found = (await records.batchGet(keys)).find((item) => item !== undefined);
  return found === undefined ? null : (parseCompression(found).project_id ?? null);
}
