import { elementCount } from '../../../model/tensor/tensor.ts';
import { floatsOf } from '../../../model/tensor/values.ts';
import type { Consumer } from './consumers.ts';

/**
 * The weight of one group of a consumer with a row for each channel that it takes: `channels` × `width`, where a row has
 * the weights of every output, and of every position of the kernel, output by output. The inverse is {@link putRows}.
 */
export interface ChannelRows {
  channels: number;
  width: number;
  /** Positions of the kernel: how many values of a row belong to each output. */
  kernel: number;
  values: Float64Array;
}

/** Place in the weight of each value of the rows of a group, row by row. */
function placesOf({ node, cut, weight, groups }: Consumer, group: number) {
  const { dims } = weight;
  if (node.opType === 'Conv') {
    const [outputs = 0, channels = 0] = dims;
    const kernel = elementCount(dims.slice(2));
    const own = outputs / groups;
    const place = (channel: number, at: number): number =>
      ((group * own + Math.floor(at / kernel)) * channels + channel) * kernel + (at % kernel);
    return { channels, width: own * kernel, kernel, place };
  }
  const [rows = 0, columns = 0] = dims;
  return cut.axis === 0
    ? { channels: rows, width: columns, kernel: 1, place: (row: number, at: number) => row * columns + at }
    : { channels: columns, width: rows, kernel: 1, place: (row: number, at: number) => at * columns + row };
}

/** The rows of one group, in double precision. */
export function rowsOf(consumer: Consumer, group: number): ChannelRows {
  const { channels, width, kernel, place } = placesOf(consumer, group);
  const weight = floatsOf(consumer.weight);
  const values = new Float64Array(channels * width);
  for (let channel = 0; channel < channels; channel += 1)
    for (let at = 0; at < width; at += 1) values[channel * width + at] = weight[place(channel, at)] ?? 0;
  return { channels, width, kernel, values };
}

/** Puts the rows of a group into a weight. */
export function putRows(consumer: Consumer, group: number, rows: ChannelRows, weight: Float32Array): void {
  const { channels, width, place } = placesOf(consumer, group);
  for (let channel = 0; channel < channels; channel += 1)
    for (let at = 0; at < width; at += 1) weight[place(channel, at)] = rows.values[channel * width + at] ?? 0;
}
