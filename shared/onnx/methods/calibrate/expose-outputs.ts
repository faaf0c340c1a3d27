import type { Model } from '../../model/file/model.ts';
import { valueInfoOf } from '../../model/graph/value-info.ts';

/**
 * Makes outputs of float activations, so that a session returns their values. Inputs of the model are left out,
 * because the caller has them. Returns the names of the new outputs.
 */
export function exposeOutputs({ graph }: Model, names: readonly string[]): string[] {
  const inputs = new Set(graph.inputs.map(({ name }) => name));
  const outputs = new Set(graph.outputs.map(({ name }) => name));
  const exposed = names.filter((name) => !inputs.has(name));
  for (const name of exposed) {
    if (!outputs.has(name)) graph.outputs.push(valueInfoOf({ name, type: 'float', dims: undefined }));
  }
  return exposed;
}
