import type { Model } from '../../model/file/model.ts';
import { valueInfoOf } from '../../model/graph/value-info.ts';

/** A float activation; float32 if it has no type. */
interface Activation {
  name: string;
  type?: 'float16';
}

/**
 * Make float activations outputs of the model. A session then returns their values. Leave out the model's inputs,
 * because the caller has their values. Return the names of the new outputs.
 */
export function exposeOutputs({ graph }: Model, activations: readonly Activation[]): string[] {
  const inputs = new Set(graph.inputs.map(({ name }) => name));
  const outputs = new Set(graph.outputs.map(({ name }) => name));
  const exposed = activations.filter(({ name }) => !inputs.has(name));
  for (const { name, type = 'float' } of exposed) {
    if (!outputs.has(name)) graph.outputs.push(valueInfoOf({ name, type, dims: undefined }));
  }
  return exposed.map(({ name }) => name);
}
