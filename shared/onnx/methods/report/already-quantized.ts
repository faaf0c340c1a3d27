import { type Graph, operatorName } from '../../model/graph/graph.ts';
import { ModelError } from '../../model/model-error.ts';

/** Operators that quantized models consist of. */
const quantized =
  /^(?:com\.microsoft\.)?(?:(?:Dynamic)?QuantizeLinear|DequantizeLinear|QLinear\w+|QGemm|QAttention|QMoE|DynamicQuantize\w+|\w+Integer(?:ToFloat)?|\w+NBits|GatherBlockQuantized)$/;

/** Run a method, and let the error that it finds nothing say that the model was quantized before. */
export function orAlreadyQuantized<T>(graph: Graph, method: () => T): T {
  // The method may change the graph by half before it finds nothing.
  const already = alreadyQuantized(graph);
  try {
    return method();
  } catch (error) {
    throw error instanceof ModelError && already !== ''
      ? new ModelError(`${error.message}${already}`)
      : error;
  }
}

/**
 * Return a sentence that says that a model is quantized already, with its operators, for the owner of a result and
 * for the error that a method found nothing. Empty if the model is not.
 */
export function alreadyQuantized(root: Graph): string {
  const counts = new Map<string, number>();
  for (const { nodes } of root.all())
    for (const node of nodes) {
      const name = operatorName(node);
      if (quantized.test(name)) counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  if (counts.size === 0) return '';
  const said = [...counts].map(([name, count]) => `${count} ${name}`).join(', ');
  return ` The model is already quantized: it has ${said}.`;
}
