import { modelFileNames } from '../../data/model-file.ts';
import type { ResultFile } from '../../data/strategy.ts';
import { Problem } from '../../endpoint/problem.ts';
import { registerResult } from '../../models/register-result.ts';
import { ModelFault } from '../../onnx/model-fault.ts';
import type { StrategyJob } from './strategy-job.ts';

/** Whether the result has become a model; null where nobody asked. */
interface Registered {
  registered: boolean | null;
  /** Why it has not, in a person's words. */
  reason: string | null;
}

/**
 * Makes the result a model under the name that the request gives it. It is no reason to lose the result that the name
 * was taken meanwhile.
 */
export async function registerNamed(job: StrategyJob, result: readonly ResultFile[]): Promise<Registered> {
  const { record, records, objects, now, newId } = job;
  const { result_name, strategy_id, owner, user_id: owner_id, model_name, files, stored_shapes } = record;
  if (result_name === null) return { registered: null, reason: null };
  try {
    await registerResult(
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
    return { registered: true, reason: null };
  } catch (error) {
    if (!(error instanceof Problem || error instanceof ModelFault)) throw error;
    return {
      registered: false,
      reason: `The result could not be made the model ${result_name}: ${error.message}`,
    };
  }
}
