import { ServiceError } from '../../core/service-error.ts';
import type { Model } from '../../data/models/model.ts';
import { modelFileNames } from '../../data/models/model-file.ts';
import { type ResultFile, requireStrategy } from '../../data/models/strategy.ts';
import { ModelError } from '../../onnx/model/model-error.ts';
import { modelOfResult } from '../../onnx-models/register-model.ts';
import type { StrategyJob } from './strategy-job.ts';

/** Outcome of the name that a request gives its result. */
export interface Registered {
  /** To be recorded with the strategy's end; undefined where it was not requested, or is impossible. */
  model: Model | undefined;
  /** Whether the result becomes a model; null where it was not requested. */
  registered: boolean | null;
  /** Why it does not, in a person's words. */
  reason: string | null;
}

/** A result that does not become the model that was asked for. */
export const notRegistered = (result_name: string | null, why: string): Registered => ({
  model: undefined,
  registered: false,
  reason: `The result could not be made the model ${result_name}: ${why}`,
});

/**
 * Makes the result a model under the name that the request gives it. It is no reason to lose the result that the name
 * was taken meanwhile.
 */
export async function registerNamed(job: StrategyJob, result: readonly ResultFile[]): Promise<Registered> {
  const { record, records, objects, now, newId } = job;
  const { kind, result_name, strategy_id, user_id: owner_id, model_name, files, stored_shapes } = record;
  if (result_name === null) return { model: undefined, registered: null, reason: null };
  try {
    // Read anew: the user may have been deleted since the job began.
    const { owner } = await requireStrategy(records, kind, strategy_id);
    const model = await modelOfResult(
      { records, objects, now, newId },
      {
        result_name,
        strategy_id,
        owner,
        owner_id,
        source: { model_name, files, shapes: stored_shapes },
        files: result.map((file) => ({
          ...file,
          role: file.name === modelFileNames.model ? 'model' : 'data',
          verified: true,
        })),
      },
    );
    return { model, registered: true, reason: null };
  } catch (error) {
    if (!(error instanceof ServiceError || error instanceof ModelError)) throw error;
    return notRegistered(result_name, error.message);
  }
}
