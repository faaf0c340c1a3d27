import type { CalibrationStatistics } from '../../calibrate/input-statistics.ts';
import { isPadded } from '../structured/constant-channels.ts';
import type { Consumer } from './consumers.ts';

/** What calibration says of the channels of a consumer's input that one of its groups takes. */
export interface InputMoment {
  channels: number;
  rows: number;
  mean: Float64Array;
  /**
   * What the channels are predicted by: their covariance, channels × channels. Where the consumer pads, their second
   * moment: zeros of the padding are then predicted by zeros, which an intercept would not do.
   */
  matrix: Float64Array;
  isCentred: boolean;
}

const areFinite = (values: Float64Array): boolean => values.every((value) => Number.isFinite(value));

/** The moments of each group of a consumer; undefined where calibration has none that are finite. */
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
