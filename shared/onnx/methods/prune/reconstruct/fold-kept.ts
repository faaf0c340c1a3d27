import { makeTensor } from '../../../model/tensor/tensor.ts';
import { floatsOf } from '../../../model/tensor/values.ts';
import type { CalibrationStatistics } from '../../calibrate/statistics-file.ts';
import type { DependencyGraph } from '../structured/dependency-graph.ts';
import { addToBias } from '../structured/remove-channels.ts';
import { type ChannelRows, type Consumer, putRows, rowsOf } from './channel-rows.ts';
import { type InputMoment, momentsOf, validTaps } from './input-moments.ts';
import { compensation } from './least-squares.ts';

/**
 * Compensate each consumer for its removed channels. The kept channels predict the removed ones by least squares
 * on the calibration set. The coefficients go into the consumer's weight, the mean remainder into its bias. Return
 * the compensated consumers. Other consumers stay unchanged.
 */
export function foldKept(
  dependencies: DependencyGraph,
  consumers: readonly Consumer[],
  statistics: CalibrationStatistics,
  isRemoved: (label: number) => boolean,
): Set<Consumer> {
  const done = new Set<Consumer>();
  for (const consumer of consumers) {
    const { node, weight, labels, groups, cut } = consumer;
    if (!consumer.isAlone || !labels.some(isRemoved)) continue;
    const moments = momentsOf(consumer, statistics);
    if (moments === undefined) continue;
    const taps = validTaps(consumer, dependencies);
    const folded = Float32Array.from(floatsOf(weight));
    const sums: number[] = [];
    let foldedGroups = 0;
    for (const [group, moment] of moments.entries()) {
      const rows = rowsOf(consumer, group);
      const start = group * moment.channels;
      const missing = foldGroup(rows, moment, (place) => isRemoved(labels[start + place] ?? 0), taps);
      if (missing === undefined) break;
      putRows(consumer, group, rows, folded);
      sums.push(...missing);
      foldedGroups += 1;
    }
    if (foldedGroups < groups) continue;
    const name = dependencies.names.make(`${weight.name}_folded`);
    const tensor = dependencies.model.graph.put(makeTensor(name, 'float', weight.dims, folded));
    node.input[1] = tensor.name;
    if (sums.some((sum) => sum !== 0)) addToBias(dependencies, cut, tensor, Float64Array.from(sums));
    done.add(consumer);
  }
  return done;
}

/** Let the kept rows of one group compensate for the removed ones. Return the missing mean of each output. */
function foldGroup(
  rows: ChannelRows,
  { matrix, mean, channels }: InputMoment,
  isRemoved: (place: number) => boolean,
  taps: Float64Array | undefined,
): Float64Array | undefined {
  const all = Array.from({ length: channels }, (_, place) => place);
  const [kept, removed] = [all.filter((place) => !isRemoved(place)), all.filter(isRemoved)];
  const { width, kernel, values } = rows;
  const added = compensation(matrix, channels, values, kept, removed);
  if (added === undefined) return undefined;
  // Mean contribution of the removed channels, minus the mean contribution of their replacement by kept channels.
  const missing = new Float64Array(width);
  for (const place of removed)
    for (let at = 0; at < width; at += 1)
      missing[at] = (missing[at] ?? 0) + (mean[place] ?? 0) * (values[place * width + at] ?? 0);
  for (const [row, place] of kept.entries()) {
    for (let at = 0; at < width; at += 1) {
      const more = added[row * width + at] ?? 0;
      missing[at] = (missing[at] ?? 0) - (mean[place] ?? 0) * more;
      values[place * width + at] = (values[place * width + at] ?? 0) + more;
    }
  }
  const sums = new Float64Array(width / kernel);
  for (const [at, value] of missing.entries()) {
    const output = Math.floor(at / kernel);
    sums[output] = (sums[output] ?? 0) + value * (taps?.[at % kernel] ?? 0);
  }
  return sums;
}
