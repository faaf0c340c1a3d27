import { ServiceError } from '../../../shared/core/service-error.ts';
import { type Model, requireReadyModel } from '../../../shared/data/models/model.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';

/** Return the project whose training made a model, followed through the strategies that it comes from. */
export async function projectOf(
  records: TableReader<'records'>,
  { origin }: Pick<Model, 'origin'>,
): Promise<string | null> {
  let from = origin;
  for (let step = 0; step < maxSteps; step += 1) {
    if (from.kind === 'artifact') return from.project_id;
    if (from.kind === 'upload') return null;
    try {
      from = (await requireReadyModel(records, from.model_name)).origin;
    } catch (error) {
      if (error instanceof ServiceError) return null;
      throw error;
    }
  }
  return null;
}

const maxSteps = 5;
