import { intAttribute } from '../../../model/graph/attributes.ts';
import type { NodeProto } from '../../../model/proto/onnx_pb.js';
import { elementCount, type Tensor } from '../../../model/tensor/tensor.ts';
import { floatsOf } from '../../../model/tensor/values.ts';
import type { Labels } from '../structured/channels.ts';
import type { Cut, DependencyGraph } from '../structured/dependency-graph.ts';

/**
 * The weight of one group of a consumer as a matrix `channels` × `width`, with a row for each input channel. A row
 * contains the weights of all outputs and kernel positions, output by output. The inverse is {@link putRows}.
 */
export interface ChannelRows {
  channels: number;
  width: number;
  /** Number of kernel positions: the values of a row for each output. */
  kernel: number;
  values: Float64Array;
}

/** A layer with removable input channels: a Conv, Gemm or MatMul with a constant float32 weight. */
export interface Consumer {
  node: NodeProto;
  cut: Cut;
  weight: Tensor;
  /** Name of the input value, and the labels of all its channels. */
  input: string;
  labels: Labels;
  /** Number of groups of a convolution. Each group takes its own part of the channels. */
  groups: number;
  /** Whether no other layer uses this weight. Another layer would change with it. */
  isAlone: boolean;
}

/** Return the rows of one group in double precision. */
export function rowsOf(consumer: Consumer, group: number): ChannelRows {
  const { channels, width, kernel, place } = placesOf(consumer, group);
  const weight = floatsOf(consumer.weight);
  const values = new Float64Array(channels * width);
  for (let channel = 0; channel < channels; channel += 1)
    for (let at = 0; at < width; at += 1) values[channel * width + at] = weight[place(channel, at)] ?? 0;
  return { channels, width, kernel, values };
}

/** Return the dimensions of a group's rows, and the function that maps a row value to its index in the weight. */
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

/** Write the rows of a group into a weight. */
export function putRows(consumer: Consumer, group: number, rows: ChannelRows, weight: Float32Array): void {
  const { channels, width, place } = placesOf(consumer, group);
  for (let channel = 0; channel < channels; channel += 1)
    for (let at = 0; at < width; at += 1) weight[place(channel, at)] = rows.values[channel * width + at] ?? 0;
}

const operators = new Set(['Conv', 'Gemm', 'MatMul']);

/** Return the layers that consume removable channels, in graph order. */
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
    // Skip the cut of the weight along the layer's output channels.
    if (carried.get(node.output[0] ?? '')?.labels === cut.labels) return [];
    if (node.opType !== 'Conv' && weight.dims.length !== 2) return [];
    const { labels } = taken;
    if (labels.every((label) => channels.lockOf(label) !== undefined)) return [];
    const groups = node.opType === 'Conv' ? intAttribute(node, 'group', 1) : 1;
    return [{ node, cut, weight, input, labels, groups, isAlone: index.uses(weight.name).length === 1 }];
  });
}
