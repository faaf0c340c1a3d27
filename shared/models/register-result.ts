import type { Model, ReadyModel } from '../data/model.ts';
import type { ModelFile } from '../data/model-file.ts';
import { type Registrar, registerModel } from './register-model.ts';

/** What a strategy has made of a model. */
export interface StrategyResult {
  /** Name of the new model. */
  result_name: string;
  strategy_id: string;
  /** Whose strategy it is: the new model is theirs. */
  owner: string | null;
  owner_id: string;
  /** The model that the strategy began with. */
  source: Pick<ReadyModel, 'model_name' | 'files' | 'shapes'>;
  /** The ONNX file, and its external data where it has any, at their places in the bucket. */
  files: readonly ModelFile[];
}

/**
 * Registers the result of a strategy as a model of its own, so that strategies chain. It takes over the calibration
 * and evaluation sets and the stored shapes of the model that it was made of, as far as those are still there.
 * Repeating it is harmless. Throws a `ModelFault` for what is no model, and a 409 problem where the name is taken.
 */
export function registerResult(
  registrar: Registrar,
  { result_name, strategy_id, owner, owner_id, source, files }: StrategyResult,
): Promise<Model> {
  const sets = source.files.filter(({ role }) => role === 'calibration' || role === 'evaluation');
  return registerModel(registrar, {
    model_name: result_name,
    owner,
    owner_id,
    origin: { kind: 'strategy', strategy_id, model_name: source.model_name },
    files: [...files, ...sets],
    shapes: source.shapes,
  });
}
