import type { Model } from '../../../model/file/model.ts';
import { inferValues } from '../../../model/infer/infer-values.ts';

/** Return the names of the float values that a model's nodes produce, and of its float inputs. */
export function madeFloats(model: Model): string[] {
  const values = inferValues(model);
  const made = model.graph.nodes.flatMap(({ output }) => output);
  const given = model.graph.inputs.map(({ name }) => name);
  return [...new Set([...given, ...made])].filter((name) => values.get(name)?.type === 'float');
}
