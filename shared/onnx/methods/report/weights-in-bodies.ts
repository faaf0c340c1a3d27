import type { Graph } from '../../model/graph/graph.ts';
import { nodeName } from '../../model/graph/graph.ts';

const maxSaid = 3;

/**
 * Return a sentence that locates the float weights in bodies of control flow, for the error that a method found no
 * weights. Empty if the bodies have no weights.
 */
export function weightsInBodies(root: Graph): string {
  const places = [...placesOf(root)];
  if (places.length === 0) return '';
  const others = places.length - maxSaid;
  const said = places.slice(0, maxSaid).join('; ');
  return ` ${places.length} of its float weights are in bodies of control flow: ${said}${others > 0 ? `; and ${others} more` : ''}.`;
}

/** Operators whose second input is a weight. */
const weighted = new Set(['Conv', 'ConvTranspose', 'Gemm', 'MatMul', 'LSTM', 'GRU', 'RNN']);

/** Yield a readable location of each weight in a body and its nested bodies. */
function* placesOf(graph: Graph): Generator<string> {
  for (const node of graph.nodes) {
    for (const attribute of node.attribute) {
      for (const body of graph.bodiesOf({ ...node, attribute: [attribute] })) {
        const place = `${attribute.name} of ${node.opType} ${JSON.stringify(nodeName(node))}`;
        for (const inner of body.nodes) {
          if (weighted.has(inner.opType) && body.initializer(inner.input[1] ?? '')?.type === 'float')
            yield `${inner.opType} ${JSON.stringify(nodeName(inner))} in ${place}`;
        }
        yield* placesOf(body);
      }
    }
  }
}
