import { type Graph, Names } from '../../../model/graph/graph.ts';
import { GraphIndex } from '../../../model/graph/graph-index.ts';
import type { CalibrationStatistics, InputStatistics } from '../../calibrate/statistics-file.ts';
import type { TransformReport } from '../../report/report.ts';
import { divideActivations } from '../divide-activations.ts';
import { foldTransposes } from '../fold-transposes.ts';
import { largestByInput, type ProductWeight } from '../product-weights.ts';
import type { BlockMemory } from './block-memory.ts';
import type { BlockFormat } from './block-quantize.ts';
import { inputFactors } from './input-factors.ts';

/**
 * Scale the inputs of products by channel, as far as this lowers the error of their weights in blocks (AWQ; Lin et
 * al., 2024). The model computes the same. Return the statistics of the scaled inputs.
 */
export function scaleInputs(
  graph: Graph,
  { exclude, format, memory }: { exclude: readonly string[]; format: BlockFormat; memory: BlockMemory },
  statistics: CalibrationStatistics,
  report: TransformReport,
): CalibrationStatistics {
  // Only constants are scaled. A matrix that other nodes use, such as a table, stays once in the file.
  const index = new GraphIndex(graph);
  const shared = [...graph.initializers.values()].filter(({ name }) => index.uses(name).length > 1);
  foldTransposes(graph, new Set(shared));
  const names = new Names(graph);
  const { factors, nodes } = divideActivations(graph, names, exclude, (activation, products) => {
    const observed = statistics.get(activation);
    return (
      observed && memory.factors(products, observed, format, () => inputFactors(products, observed, format))
    );
  });
  const inBodies = [...graph.all()].flatMap((body) =>
    body === graph
      ? []
      : [
          divideActivations(body, names, exclude, (_, products) =>
            inputFactors(products, assumed(products), format),
          ),
        ],
  );
  const all = inBodies.reduce((sum, divided) => sum + divided.factors.size, factors.size);
  const added = inBodies.reduce((sum, divided) => sum + divided.nodes, nodes);
  if (all > 0)
    report.notes.push(`${all} inputs were scaled by channel, ${added} of them by an additional Mul.`);
  const scaled = new Map(statistics);
  for (const [name, { of, by }] of factors) {
    const observed = statistics.get(of);
    if (observed !== undefined) scaled.set(name, divided(observed, by));
  }
  return scaled;
}

/**
 * Return statistics for the input of products in a body of control flow, where nothing is observed: a channel is as much
 * smaller as its weights are larger, as training leaves them.
 */
function assumed(products: readonly ProductWeight[]): InputStatistics {
  const weights = products.map(largestByInput);
  const channels = weights[0]?.length ?? 0;
  const sizes = Float64Array.from({ length: channels }, (_, at) => {
    const largest = Math.max(...weights.map((weight) => weight[at] ?? 0));
    return largest > 0 ? 1 / largest : 0;
  });
  const moment = new Float64Array(channels * channels);
  for (const [at, size] of sizes.entries()) moment[at * channels + at] = size * size;
  return { channels, rows: 1, mean: new Float64Array(channels), largest: sizes, moment: () => moment };
}

/** Return the statistics of a value whose channels are divided by factors. */
function divided(observed: InputStatistics, by: Float32Array): InputStatistics {
  const { channels } = observed;
  const over = (values: Float64Array): Float64Array => values.map((value, at) => value / (by[at] ?? 1));
  return {
    ...observed,
    mean: over(observed.mean),
    largest: over(observed.largest),
    moment: () =>
      observed
        .moment()
        ?.map((value, at) => value / ((by[Math.floor(at / channels)] ?? 1) * (by[at % channels] ?? 1))),
  };
}
