import { findModel, type Model, type ReadyModel } from '../data/models/model.ts';
import type { ModelFile } from '../data/models/model-file.ts';
import { copyModel, draftOf, inspectFiles, nameTaken, type Registrar } from './register-model.ts';

/** Result of a strategy. */
export interface StrategyResult {
  /** Name of the new model. */
  result_name: string;
  /** Serves as the new model's id too: what lies under it belongs to nothing once the strategy has ended otherwise. */
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
 * Copy the result of a strategy to the keys of a model of its own, so that strategies chain, and return that model.
 * The transaction that ends the strategy records it. It takes over the calibration and evaluation sets and the stored
 * shapes of the model that it was made of, as far as those are still there.
 * @throws ModelError for files that are no model; ServiceError `conflict` where the name is taken
 */
export async function modelOfResult(
  registrar: Registrar,
  { result_name, strategy_id, owner, owner_id, source, files: made }: StrategyResult,
): Promise<Model> {
  if ((await findModel(registrar.records, result_name)) !== undefined) throw nameTaken(result_name);
  const sets = source.files.filter(({ role }) => role === 'calibration' || role === 'evaluation');
  const registration = {
    model_name: result_name,
    owner,
    owner_id,
    origin: { kind: 'strategy' as const, strategy_id, model_name: source.model_name },
    files: [...made, ...sets],
    shapes: source.shapes,
  };
  const summary = await inspectFiles(registrar, registration);
  const draft = draftOf(registrar, registration, strategy_id);
  return copyModel(registrar, registration.files, draft, summary);
}
