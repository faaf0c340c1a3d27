import type { Model } from '../../model/file/model.ts';
import { ModelError } from '../../model/model-error.ts';
import { elementCount, makeTensor } from '../../model/tensor/tensor.ts';
import { floatsOf } from '../../model/tensor/values.ts';
import type { PruneRequest } from '../../strategies/prune-request.ts';
import { curvatureOf, firstToLast } from '../calibrate/curvature.ts';
import type { CalibrationStatistics, ObservedInput } from '../calibrate/statistics-file.ts';
import { TransformReport } from '../report/report.ts';
import { weightsInBodies } from '../report/weights-in-bodies.ts';
import { floatParameters, layerName, recordNoChange, recordOutcome } from './outcome.ts';
import { preparePruning } from './prepare-pruning.ts';
import { type PrunableWeight, prunableWeights } from './prunable-weights.ts';
import { leastSalient, type MaskChoice, sparsify, twoOfFour } from './sparse-gpt.ts';

type UpdateRequest = Pick<PruneRequest, 'compression' | 'exclude'> & {
  strategy: 'sparsegpt' | 'sparsegpt_2_4';
};

/**
 * Return the inputs whose second moments the update needs.
 *
 * @throws ModelError if there is nothing to prune
 */
export function updateInputs(model: Model, request: UpdateRequest): ObservedInput[] {
  preparePruning(model, request.exclude);
  const report = new TransformReport();
  const weights = updatable(model, request, report);
  if (weights.length === 0) throw nothing(model, report);
  return weights.map(({ node, layouts: [layout] }) => ({
    name: node.input[0] ?? '',
    axis: node.opType === 'Conv' ? 1 : -1,
    channels: layout?.reduction ?? 0,
    hasMoment: true,
  }));
}

/** Return the weights that can be updated. The report lists the others. */
function updatable(
  model: Model,
  { exclude, strategy }: UpdateRequest,
  report: TransformReport,
): PrunableWeight[] {
  return prunableWeights(model.graph, exclude, report).filter((weight) => {
    const why = obstacle(weight, model, strategy === 'sparsegpt_2_4');
    if (why !== undefined) report.keep(`weight ${weight.tensor.name} of ${layerName(weight.node)}`, why);
    return why === undefined;
  });
}

/** Maximum inputs of a layer. The inversion of their second moment takes cubic time. */
const maxInputs = 8192;

/** Return the reason why a weight cannot be updated. Undefined if it can be updated. */
function obstacle(
  { node, tensor, layouts, graph }: PrunableWeight,
  model: Model,
  isByFour: boolean,
): string | undefined {
  const [layout] = layouts;
  const users = model.graph.nodes.filter(({ input }) => input.includes(tensor.name));
  if (graph !== model.graph || users.length !== 1) return 'is shared, or within control flow';
  if (layout === undefined || tensor.type !== 'float' || node.input[1] !== tensor.name)
    return 'is not a float32 weight on the right side of a product';
  const isPointwise = node.opType === 'Conv' && layout.inner === 1 && layout.reduction > 1;
  const isProduct = node.opType !== 'Conv' && tensor.dims.length === 2;
  if (!isPointwise && !isProduct)
    return 'belongs to a convolution with a larger kernel, whose inputs are not observed in this form';
  if (isPointwise && node.attribute.some(({ name, i }) => name === 'group' && i !== 1n))
    return 'is in groups';
  if (layout.reduction > maxInputs) return `has more than ${maxInputs} inputs`;
  if (isByFour && layout.reduction % 4 !== 0)
    return `has ${layout.reduction} input channels, not a multiple of 4`;
  return undefined;
}

const nothing = ({ graph }: Model, report: TransformReport): ModelError =>
  new ModelError(
    `The model has no weight of a MatMul, Gemm or 1 × 1 Conv that can be updated.${report.keptText()}${weightsInBodies(graph)}`,
  );

/**
 * Zero weights of MatMul, Gemm and 1 × 1 Conv, and update the kept ones by the second moments of the inputs. Keep
 * 1/compression of each weight (`sparsegpt`), or 2 of every 4 along the inputs (`sparsegpt_2_4`).
 *
 * @throws ModelError if no weight has the required form, or no input was observed
 */
export function pruneWithUpdate(
  model: Model,
  request: UpdateRequest,
  report: TransformReport,
  statistics: CalibrationStatistics,
): void {
  const { compression, strategy } = request;
  preparePruning(model, request.exclude);
  const weights = updatable(model, request, report);
  const modelBefore = floatParameters(model.graph);
  const size = weights.reduce((sum, { tensor }) => sum + elementCount(tensor.dims), 0);
  if (compression === 1) {
    recordNoChange(report, request, size, modelBefore);
    return;
  }
  const choose = strategy === 'sparsegpt_2_4' ? twoOfFour : leastSalient(compression);
  let [before, left] = [0, 0];
  for (const weight of weights) {
    const { node, tensor } = weight;
    const observed = statistics.get(node.input[0] ?? '');
    const moment = observed?.moment();
    const curvature = observed && moment && curvatureOf(moment, observed.channels, firstToLast);
    if (curvature === undefined) {
      report.keep(
        `weight ${tensor.name} of ${layerName(node)}`,
        'calibration has no finite values of its inputs, or only zeros',
      );
      continue;
    }
    const { result, error, ...nonzero } = prune(weight, curvature.factor, choose);
    weight.graph.put(makeTensor(tensor.name, 'float', tensor.dims, result));
    const parameters = elementCount(tensor.dims);
    before += parameters;
    left += nonzero.after;
    report.layers.push({
      ...{ layer: layerName(node), operator: node.opType, weight: tensor.name },
      ...{ parameters_before: parameters, parameters_after: parameters },
      ...{ nonzero_before: nonzero.before, nonzero_after: nonzero.after, error },
    });
  }
  if (before === 0) throw nothing(model, report);
  recordOutcome(report, request, {
    before,
    after: left,
    modelBefore,
    modelAfter: modelBefore - before + left,
  });
  report.notes.push(
    'Weights were zeroed, not removed: only the compressed (gzip) size shrinks, not the file or the run time.',
  );
}

/**
 * Prune one weight. Return the relative error of its values, and the number of nonzero values before and after.
 */
function prune({ tensor, layouts: [layout] }: PrunableWeight, factor: Float64Array, choose: MaskChoice) {
  const { reduction: k = 1, outer = 1, inner = 1 } = layout ?? {};
  const source = floatsOf(tensor);
  const n = outer * inner;
  const place = (row: number, column: number): number =>
    (Math.floor(row / inner) * k + column) * inner + (row % inner);
  const values = new Float64Array(n * k);
  for (let row = 0; row < n; row += 1)
    for (let column = 0; column < k; column += 1) values[row * k + column] = source[place(row, column)] ?? 0;
  sparsify(values, n, k, factor, choose);
  const result = new Float32Array(source.length);
  let [before, after, apart, whole] = [0, 0, 0, 0];
  for (let row = 0; row < n; row += 1)
    for (let column = 0; column < k; column += 1) {
      const at = place(row, column);
      const [is, was] = [values[row * k + column] ?? 0, source[at] ?? 0];
      result[at] = is;
      before += was === 0 ? 0 : 1;
      after += is === 0 ? 0 : 1;
      apart += (is - was) ** 2;
      whole += was ** 2;
    }
  return { result, before, after, error: whole === 0 ? 0 : Math.sqrt(apart / whole) };
}
