import type { Model } from '../../../model/file/model.ts';
import { inferValues } from '../../../model/infer/infer-values.ts';

/** Names of the float values of a model that its nodes make, and of its float inputs. */
export function madeFloats(model: Model): string[] {
  const values = inferValues(model);
  const made = model.graph.nodes.flatMap(({ output }) => output);
  const given = model.graph.inputs.map(({ name }) => name);
  return [...new Set([...given, ...made])].filter((name) => values.get(name)?.type === 'float');
}
