import type { Graph } from '../../model/graph/graph.ts';
import { elementCount, type Tensor } from '../../model/tensor/tensor.ts';
import { isFloatTensor } from '../../model/tensor/values.ts';
import { countByte, countNibble, nonzeroFloat16, nonzeroFloat32 } from './count-values.ts';
import { type QuantizedOperand, quantizedOperands } from './quantized-operands.ts';

export interface ParameterCount {
  /** Values of all floating-point and quantized constants. Scales, zero points and shapes do not count. */
  parameters: number;
  /** Parameters that do not represent zero. */
  nonzero: number;
}

/** Count the values with at least one set bit besides the sign. */
function nonzeroFloats(tensor: Tensor): number {
  const width = tensor.byteLength / Math.max(1, elementCount(tensor.dims));
  if (width === 4) return nonzeroFloat32(tensor.source());
  if (width === 2) return nonzeroFloat16(tensor.source());
  const bytes = tensor.bytes();
  let count = 0;
  for (let at = 0; at < bytes.length; at += width) {
    let bits = (bytes[at + width - 1] ?? 0) & 0x7f;
    for (let byte = 0; byte < width - 1; byte += 1) bits |= bytes[at + byte] ?? 0;
    if (bits !== 0) count += 1;
  }
  return count;
}

/**
 * Count the nonzero values of a byte or more, with one zero point for all of them or one per channel of any axis.
 */
function nonzeroBytes(tensor: Tensor, zero: Tensor | undefined): number {
  const total = elementCount(tensor.dims);
  const width = total === 0 ? 1 : tensor.byteLength / total;
  const zeros = zero?.bytes() ?? new Uint8Array(width);
  if (zeros.every((byte) => byte === zeros[0])) {
    const [byte = 0] = zeros;
    if (width === 1) return total - countByte(tensor.source(), byte);
  }
  const bytes = tensor.bytes();
  let count = 0;
  const channels = zeros.length / width;
  const axis = Math.max(0, tensor.dims.indexOf(channels));
  const inner = elementCount(tensor.dims.slice(axis + 1));
  for (let at = 0; at < total; at += 1) {
    const from = (Math.floor(at / inner) % channels) * width;
    for (let byte = 0; byte < width; byte += 1) {
      if (bytes[at * width + byte] === zeros[from + byte]) continue;
      count += 1;
      break;
    }
  }
  return count;
}

/**
 * Count the nonzero 4-bit values, with the zero point of their block. Without zero points, zero is the middle of
 * the range.
 */
function nonzeroNibbles(tensor: Tensor, values: number): number {
  // The zero of int4 is 0; that of values packed into bytes is 8.
  const zeros = countNibble(tensor.source(), tensor.type === 'int4' ? 0 : 8);
  const padding = tensor.byteLength * 2 - values;
  return Math.max(0, values - Math.max(0, zeros - padding));
}

function countQuantized(
  graph: Graph,
  tensor: Tensor,
  { zeroPoint, packed }: QuantizedOperand,
): ParameterCount {
  const zero = graph.initializer(zeroPoint);
  const isPacked = packed?.bits === 4 && (tensor.type === 'uint8' || tensor.type.endsWith('int4'));
  const elements = elementCount(tensor.dims) * (isPacked && tensor.type === 'uint8' ? 2 : 1);
  const parameters = packed?.values ?? elements;
  if (isPacked)
    return { parameters, nonzero: zero === undefined ? nonzeroNibbles(tensor, parameters) : parameters };
  if (packed !== undefined && zero === undefined) {
    const middle = tensor.type === 'uint8' ? 128 : 0;
    const zeros = countByte(tensor.source(), middle);
    return { parameters, nonzero: Math.max(0, parameters - Math.max(0, zeros - (elements - parameters))) };
  }
  return { parameters, nonzero: Math.min(parameters, nonzeroBytes(tensor, zero)) };
}

/** 8-bit tables that are dequantized after the lookup, with the zero points of the dequantization. */
function tablesOf({ nodes, initializers }: Graph): QuantizedOperand[] {
  const dequantized = new Map(
    nodes
      .filter(({ opType }) => opType === 'DequantizeLinear')
      .map(({ input }): [string, string] => [input[0] ?? '', input[2] ?? '']),
  );
  return nodes.flatMap(({ opType, input, output }) => {
    const data = input[0] ?? '';
    const zeroPoint = opType === 'Gather' ? dequantized.get(output[0] ?? '') : undefined;
    return zeroPoint === undefined || !initializers.has(data) ? [] : [{ data, zeroPoint }];
  });
}

/** Scales of weights. A dynamic quantization multiplies them by the scale of the activation. */
function dynamicScales(graph: Graph): string[] {
  const made = new Set(
    graph.nodes
      .filter(({ opType }) => opType === 'DynamicQuantizeLinear')
      .map(({ output }) => output[1] ?? ''),
  );
  return graph.nodes
    .filter(({ opType, input }) => opType === 'Mul' && input.some((name) => made.has(name)))
    .flatMap(({ input }) => input);
}

/** Count the parameters of a model. Keeps one tensor in memory at a time. */
export function countParameters(root: Graph): ParameterCount {
  const counted: ParameterCount = { parameters: 0, nonzero: 0 };
  const add = ({ parameters, nonzero }: ParameterCount): void => {
    counted.parameters += parameters;
    counted.nonzero += nonzero;
  };
  for (const graph of root.all()) {
    const all = graph.nodes.map(quantizedOperands);
    const auxiliary = new Set([...all.flatMap((one) => one.auxiliary), ...dynamicScales(graph)]);
    const constants = [...all.flatMap((one) => one.constants), ...tablesOf(graph)];
    const quantized = new Map(constants.map((constant) => [constant.data, constant]));
    for (const tensor of graph.initializers.values()) {
      if (auxiliary.has(tensor.name)) continue;
      const operand = quantized.get(tensor.name);
      if (operand !== undefined && !isFloatTensor(tensor)) add(countQuantized(graph, tensor, operand));
      else if (isFloatTensor(tensor)) {
        add({ parameters: elementCount(tensor.dims), nonzero: nonzeroFloats(tensor) });
      }
    }
  }
  return counted;
}
