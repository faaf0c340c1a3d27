import { intsAttribute, stringAttribute } from '../../../model/graph/attributes.ts';
import { isKnown } from '../../../model/infer/value.ts';
import type { CalibrationStatistics } from '../../calibrate/statistics-file.ts';
import { isPadded } from '../structured/constant-channels.ts';
import type { DependencyGraph } from '../structured/dependency-graph.ts';
import type { Consumer } from './channel-rows.ts';

/** Calibration moments of the input channels of one group of a consumer. */
export interface InputMoment {
  channels: number;
  rows: number;
  mean: Float64Array;
  /**
   * Matrix for the prediction of the channels (channels × channels). Usually this is their covariance. If the
   * consumer pads, it is their second moment: zeros of the padding then predict zeros, which an intercept would
   * not do.
   */
  matrix: Float64Array;
  isCentred: boolean;
}

/** Return the moments of each group of a consumer. Undefined if calibration has no finite moments for it. */
export function momentsOf(consumer: Consumer, statistics: CalibrationStatistics): InputMoment[] | undefined {
  const { input, labels, groups, node } = consumer;
  const found = statistics.get(input);
  const moment = found?.moment();
  if (found === undefined || moment === undefined || found.channels !== labels.length) return undefined;
  if (!areFinite(moment)) return undefined;
  const isCentred = !isPadded(node);
  const channels = labels.length / groups;
  return Array.from({ length: groups }, (_, group) => {
    const start = group * channels;
    const mean = found.mean.slice(start, start + channels);
    const matrix = new Float64Array(channels * channels);
    for (let row = 0; row < channels; row += 1)
      for (let column = 0; column < channels; column += 1) {
        const value = moment[(start + row) * labels.length + start + column] ?? 0;
        const product = isCentred ? (mean[row] ?? 0) * (mean[column] ?? 0) : 0;
        matrix[row * channels + column] = value - product;
      }
    return { channels, rows: found.rows, mean, matrix, isCentred };
  });
}

const areFinite = (values: Float64Array): boolean => values.every((value) => Number.isFinite(value));

/**
 * Return, for each kernel position of a consumer, the share of outputs at which the position lies inside the input
 * rather than in the padding. Undefined if a required size is not known.
 */
export function validTaps(
  { node, weight, input }: Consumer,
  dependencies: DependencyGraph,
): Float64Array | undefined {
  if (node.opType !== 'Conv') return Float64Array.of(1);
  const kernel = weight.dims.slice(2);
  const pads = intsAttribute(node, 'pads') ?? [];
  const isPlain = stringAttribute(node, 'auto_pad', 'NOTSET') === 'NOTSET';
  if (isPlain && pads.every((pad) => pad === 0))
    return new Float64Array(kernel.reduce((product, size) => product * size, 1)).fill(1);
  const from = dependencies.dims(input)?.slice(2) ?? [];
  const to = dependencies.dims(node.output[0])?.slice(2) ?? [];
  if (!isPlain || from.length !== kernel.length || ![...from, ...to].every(isKnown)) return undefined;
  const strides = intsAttribute(node, 'strides');
  const dilations = intsAttribute(node, 'dilations');
  let parts = Float64Array.of(1);
  for (const [axis, size] of kernel.entries()) {
    const [inputs, outputs] = [Number(from[axis]), Number(to[axis])];
    const along = Array.from({ length: size }, (_, tap) =>
      validAlong(inputs, outputs, tap, strides?.[axis] ?? 1, dilations?.[axis] ?? 1, pads[axis] ?? 0),
    );
    parts = Float64Array.from([...parts].flatMap((part) => along.map((own) => part * own)));
  }
  return parts;
}

/** Return the share of output places along one axis at which a kernel position lies inside the input. */
function validAlong(
  size: number,
  outputs: number,
  tap: number,
  stride: number,
  dilation: number,
  before: number,
): number {
  let within = 0;
  for (let place = 0; place < outputs; place += 1) {
    const at = place * stride + tap * dilation - before;
    if (at >= 0 && at < size) within += 1;
  }
  return outputs === 0 ? 1 : within / outputs;
}
