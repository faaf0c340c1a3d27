import type { Model } from '../../model/file/model.ts';
import { intAttribute } from '../../model/graph/attributes.ts';
import type { Graph } from '../../model/graph/graph.ts';
import { valueTypeOf } from '../../model/graph/value-info.ts';
import type { NodeProto, ValueInfoProto } from '../../model/proto/onnx_pb.js';
import { isFeedType, isFloatType } from '../session/feed-type.ts';
import type { FedInput } from '../session/stage-task.ts';

/** Size of an unspecified dimension. */
export const openDim = 16;

/** Operators that pass indices unchanged. */
const passing = new Set([
  'Cast',
  'Concat',
  'Expand',
  'Flatten',
  'Identity',
  'Reshape',
  'Slice',
  'Split',
  'Squeeze',
  'Tile',
  'Transpose',
  'Unsqueeze',
]);

/** Number of rows that an index at this input can select; undefined if this input is no index. */
function rowsBehind(graph: Graph, node: NodeProto, name: string): number | undefined {
  const dimsOf = (position: number) => graph.initializer(node.input[position] ?? '')?.dims;
  switch (node.opType) {
    case 'Gather':
    case 'GatherElements': {
      const dims = node.input[1] === name ? dimsOf(0) : undefined;
      return dims?.at(intAttribute(node, 'axis', 0));
    }
    case 'GatherBlockQuantized':
      return node.input[1] === name ? dimsOf(0)?.[0] : undefined;
    case 'EmbedLayerNormalization':
      if (node.input[0] === name) return dimsOf(2)?.[0];
      return node.input[1] === name ? dimsOf(4)?.[0] : undefined;
    default:
      return undefined;
  }
}

/** Rows of the smallest table that an input indexes; undefined if the input is no index. */
function tableRows(graph: Graph, users: ReadonlyMap<string, NodeProto[]>, input: string): number | undefined {
  const seen = new Set([input]);
  let rows: number | undefined;
  for (const name of seen) {
    for (const node of users.get(name) ?? []) {
      const found = rowsBehind(graph, node, name);
      if (found !== undefined) rows = Math.min(rows ?? found, found);
      if (passing.has(node.opType)) for (const output of node.output) seen.add(output);
    }
  }
  return rows;
}

function plan(
  graph: Graph,
  users: ReadonlyMap<string, NodeProto[]>,
  info: ValueInfoProto,
  given: readonly (number | null)[] | undefined,
  sizes: Map<string, number>,
): FedInput {
  const { name } = info;
  const value = valueTypeOf(info);
  if (value === undefined || !(value.type === 'string' || isFeedType(value.type))) {
    const type = value?.type ?? info.type?.value.case ?? 'nothing that is declared';
    return { name, type, declared: null, dims: null, values: 'one', below: 0 };
  }
  const { type, dims } = value;
  const fixed = dims?.map((dim) =>
    typeof dim === 'number' && dim >= 0 && Number.isSafeInteger(dim) ? dim : null,
  );
  const shape = fixed ?? given?.map(() => null);
  const full = shape?.map((dim, axis) => {
    const symbol = dims?.[axis];
    const size = dim ?? given?.[axis] ?? (typeof symbol === 'string' ? sizes.get(symbol) : undefined);
    const known = size ?? (axis === 0 ? 1 : openDim);
    if (typeof symbol === 'string') sizes.set(symbol, known);
    return known;
  });
  const isNumber = type !== 'string' && !isFloatType(type);
  const rows = !isNumber ? undefined : tableRows(graph, users, name);
  const isOne = /mask/i.test(name) || (!(type !== 'string' && isFloatType(type)) && rows === undefined);
  return {
    name,
    type,
    declared: fixed ?? null,
    dims: full ?? null,
    values: isOne ? 'one' : rows === undefined ? 'normal' : 'index',
    below: isOne ? 0 : (rows ?? 0),
  };
}

/**
 * Plan the synthetic data of each input for a model without a data set: normally distributed numbers, indices
 * within their table, and ones for masks and for integers of unknown use. Dimensions that neither the model nor
 * `shapes` fixes are 1 along the first axis and 16 elsewhere.
 */
export function feedPlan(
  { graph }: Model,
  shapes: Readonly<Record<string, readonly (number | null)[]>>,
): FedInput[] {
  const users = new Map<string, NodeProto[]>();
  for (const node of graph.nodes) {
    for (const name of new Set(node.input)) {
      const others = users.get(name);
      if (others === undefined) users.set(name, [node]);
      else others.push(node);
    }
  }
  const sizes = new Map<string, number>();
  // A given size takes precedence over an assumed one, regardless of the order of inputs.
  for (const info of graph.inputs) {
    const dims = valueTypeOf(info)?.dims ?? [];
    for (const [axis, dim] of dims.entries()) {
      const size = Object.hasOwn(shapes, info.name) ? shapes[info.name]?.[axis] : undefined;
      if (typeof dim === 'string' && typeof size === 'number') sizes.set(dim, size);
    }
  }
  return graph.inputs.map((info) => {
    const given = Object.hasOwn(shapes, info.name) ? shapes[info.name] : undefined;
    return plan(graph, users, info, given, sizes);
  });
}
