import { ProblemError } from '../../../../../shared/client/problem-error.ts';
import type { ModelOrigin } from '../../../../../shared/data/models/model.ts';

interface Made {
  model_name: string;
  origin: ModelOrigin;
}

/** Model from which another was made, and the compression that made it. */
export interface Ancestor {
  model_name: string;
  strategy_id: string;
}

export interface Ancestry {
  /** Models from the first to the parent. Empty for a model that is no result of a compression. */
  ancestors: readonly Ancestor[];
  /** Origin of the first of them. Undefined if that model no longer exists. */
  origin: ModelOrigin | undefined;
}

const maxGenerations = 20;

/** Find the models from which a model was made, back to an upload or to an artifact of an experiment. */
export async function ancestryOf(
  model: Made,
  load: (model_name: string) => Promise<Made>,
): Promise<Ancestry> {
  const ancestors: Ancestor[] = [];
  let { origin } = model;
  while (origin.kind === 'strategy' && ancestors.length < maxGenerations) {
    const { model_name, strategy_id } = origin;
    ancestors.unshift({ model_name, strategy_id });
    try {
      ({ origin } = await load(model_name));
    } catch (error) {
      if (error instanceof ProblemError && error.status === 404) return { ancestors, origin: undefined };
      throw error;
    }
  }
  return { ancestors, origin };
}
