import type { Model } from '../../../model/file/model.ts';
import type { Graph } from '../../../model/graph/graph.ts';
import type { GraphIndex } from '../../../model/graph/graph-index.ts';
import type { CalibrationRanges, Range } from '../../calibrate/ranges.ts';
import { isChosen, type StaticRequest } from './static-operators.ts';

/**
 * Adjust the measured ranges. The range of a Softmax is fixed. A value that only a Relu or Clip uses gets the
 * range of the Relu's or Clip's output. Ranges that 8 bits cannot represent are left out.
 */
export function adjustedRanges(
  model: Model,
  index: GraphIndex,
  request: StaticRequest,
  measured: CalibrationRanges,
): Map<string, Range> {
  const ranges = new Map<string, Range>();
  const scores = scoresOf(model.graph);
  for (const [name, range] of measured)
    if (isUsable(range) && (!scores.has(name) || isFine(range))) ranges.set(name, range);
  for (const node of model.graph.nodes) {
    if (!isChosen(model, node, request)) continue;
    const [input = ''] = node.input;
    const [output = ''] = node.output;
    if (node.opType === 'Softmax') ranges.set(output, { min: 0, max: 1 });
    if (node.opType !== 'Relu' && node.opType !== 'Clip') continue;
    const range = ranges.get(output);
    if (range !== undefined && index.soleUse(input) !== undefined) ranges.set(input, range);
  }
  return ranges;
}

/** Magnitude beyond any activation. Masks use such numbers instead of minus infinity. */
const leastMask = 1e30;

/** Whether 8 bits can represent a range. */
const isUsable = ({ min, max }: Range): boolean => min > -leastMask && max < leastMask && min <= max;

/** Widest range of scores in 8 bits: there, a step of them is a factor of e for the Softmax. */
const widestScores = 255;

const isFine = ({ min, max }: Range): boolean => max - min <= widestScores;

/** Operators that add masks to scores, or pass both on. */
const masking: ReadonlySet<string> = new Set([
  ...['Add', 'Sub', 'Sum', 'Where', 'Clip', 'Max', 'Min', 'Mul', 'Div', 'Concat', 'Slice', 'Split'],
  ...['Reshape', 'Transpose', 'Squeeze', 'Unsqueeze', 'Expand', 'Identity'],
]);

/**
 * Return the values from which exponentials are computed. A mask of −10,000 or −1e9 that was added to some of them
 * makes their range so wide that all others would get the same value.
 */
function scoresOf({ nodes }: Graph): ReadonlySet<string> {
  const scores = new Set<string>();
  for (const { opType, input, output } of nodes.toReversed()) {
    const isSource = opType === 'Softmax' || opType === 'LogSoftmax' || opType === 'Exp';
    if (isSource) scores.add(input[0] ?? '');
    else if (masking.has(opType) && output.some((name) => scores.has(name)))
      for (const name of input) scores.add(name);
  }
  return scores;
}
