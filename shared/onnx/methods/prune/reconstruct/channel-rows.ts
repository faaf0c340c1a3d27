import { intAttribute } from '../../../model/graph/attributes.ts';
import type { NodeProto } from '../../../model/proto/onnx_pb.js';
import { elementCount, type Tensor } from '../../../model/tensor/tensor.ts';
import { floatsOf } from '../../../model/tensor/values.ts';
import type { Labels } from '../structured/channels.ts';
import type { Cut, DependencyGraph } from '../structured/dependency-graph.ts';

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

/** A layer that takes channels which may be removed: a Conv, Gemm or MatMul of a constant weight of float32. */
export interface Consumer {
  node: NodeProto;
  cut: Cut;
  weight: Tensor;
  /** Name of the value that it takes, and the labels of all its channels. */
  input: string;
  labels: Labels;
  /** Groups of a convolution: each takes its own part of the channels. */
  groups: number;
  /** The only layer of this weight: others would change with it. */
  isAlone: boolean;
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

/** Puts the rows of a group into a weight. */
export function putRows(consumer: Consumer, group: number, rows: ChannelRows, weight: Float32Array): void {
  const { channels, width, place } = placesOf(consumer, group);
  for (let channel = 0; channel < channels; channel += 1)
    for (let at = 0; at < width; at += 1) weight[place(channel, at)] = rows.values[channel * width + at] ?? 0;
}

const operators = new Set(['Conv', 'Gemm', 'MatMul']);

/** The layers of a model that use removable channels up, in order. */
export function consumersOf(dependencies: DependencyGraph): Consumer[] {
  const { cuts, channels, carried, producers, index } = dependencies;
  const makers = new Set(producers.map(({ node }) => node));
  return cuts.flatMap((cut) => {
    const { node, position, isWeight } = cut;
    const [input = ''] = node.input;
    const taken = carried.get(input);
    const weight = dependencies.constant(node.input[1]);
    const isOwn = node.domain === '' && operators.has(node.opType) && makers.has(node);
    if (!isOwn || !isWeight || position !== 1 || taken === undefined || weight?.type !== 'float') return [];
    // The other cut of the weight is that of what the layer makes.
    if (carried.get(node.output[0] ?? '')?.labels === cut.labels) return [];
    if (node.opType !== 'Conv' && weight.dims.length !== 2) return [];
    const { labels } = taken;
    if (labels.every((label) => channels.lockOf(label) !== undefined)) return [];
    const groups = node.opType === 'Conv' ? intAttribute(node, 'group', 1) : 1;
    return [{ node, cut, weight, input, labels, groups, isAlone: index.uses(weight.name).length === 1 }];
  });
}
