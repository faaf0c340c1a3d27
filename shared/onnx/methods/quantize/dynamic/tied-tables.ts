import { floatAttribute, intAttribute, setAttribute } from '../../../model/graph/attributes.ts';
import { type Graph, isExcluded, makeNode, type Names } from '../../../model/graph/graph.ts';
import type { NodeProto } from '../../../model/proto/onnx_pb.js';
import { transposed } from '../../../model/tensor/strided.ts';
import type { Tensor } from '../../../model/tensor/tensor.ts';
import { isFloatTensor } from '../../../model/tensor/values.ts';
import { floatTables } from '../float-tables.ts';
import { isSwap } from '../fold-transposes.ts';
import { usesIn } from '../fold-widened.ts';
import { isQuantizable, ownedConstant } from '../weight-store.ts';

/**
 * Find the tables that a Gather looks up and a product multiplies with transposed, as language models tie their
 * output head. Such a table is stored once. Each Gemm with the table becomes Transpose, MatMul and Add, so all
 * heads have one form. Tables of excluded nodes are not tied, and neither are tables that other nodes need in float.
 */
export function tiedTables(root: Graph, names: Names, exclude: readonly string[]): Set<Tensor> {
  storeAsLookedUp(root, exclude);
  const inFloat = floatTables(root, exclude, ['Gather', 'MatMul', 'Gemm']);
  const lookedUp = new Set<Tensor>();
  for (const { graph, node } of nodesOf(root, exclude)) {
    const table = node.opType === 'Gather' ? matrixOf(graph, node.input[0]) : undefined;
    if (table !== undefined && !inFloat.has(table) && intAttribute(node, 'axis', 0) === 0)
      lookedUp.add(table);
  }
  const tied = new Set<Tensor>();
  if (lookedUp.size === 0) return tied;
  for (const { graph, node } of nodesOf(root, exclude)) {
    const table = node.opType === 'MatMul' ? headTable(graph, node) : gemmTable(graph, node);
    if (table !== undefined && lookedUp.has(table)) tied.add(table);
  }
  for (const graph of root.all())
    graph.nodes = graph.nodes.flatMap((node) => {
      const table = isExcluded(node, exclude) ? undefined : gemmTable(graph, node);
      return table !== undefined && tied.has(table) ? transposedProduct(node, names) : [node];
    });
  return tied;
}

/**
 * Store tables as the lookup reads them. If a Gather reads the transpose of a product's weight, store the transpose,
 * and let the product read a transpose of it: one form for all tied tables.
 */
export function storeAsLookedUp(root: Graph, exclude: readonly string[]): void {
  const uses = usesIn(root);
  for (const graph of root.all())
    for (const node of [...graph.nodes]) {
      const [turned = ''] = node.output;
      const weight = graph.initializers.get(node.input[0] ?? '');
      if (weight?.dims.length !== 2 || !isFloatTensor(weight)) continue;
      if (!isSwap(node) || isExcluded(node, exclude)) continue;
      const readers = uses.get(weight.name) ?? [];
      const lookups = uses.get(turned) ?? [];
      const isTable = lookups.some((use) => use !== 'output' && use.node.opType === 'Gather');
      if (!isTable || readers.length === 1 || [...readers, ...lookups].includes('output')) continue;
      graph.put(transposed(weight, [1, 0], turned));
      graph.initializers.delete(weight.name);
      [node.input, node.output] = [[turned], [weight.name]];
      setAttribute(node, 'perm', [1, 0]);
      graph.nodes = [node, ...graph.nodes.filter((later) => later !== node)];
      for (const use of readers)
        if (use !== 'output' && use.node.opType === 'Gemm' && use.position === 1) {
          use.node.input[1] = turned;
          setAttribute(use.node, 'transB', 1 - intAttribute(use.node, 'transB', 0));
        }
    }
}

/** Return the names of tied tables and of their transposes. */
export function tiedNames({ nodes }: Graph, tied: ReadonlySet<Tensor>): Set<string> {
  const tables = new Set([...tied].map(({ name }) => name));
  const turned = nodes.filter(({ opType, input }) => opType === 'Transpose' && tables.has(input[0] ?? ''));
  return new Set([...tables, ...turned.flatMap(({ output }) => output)]);
}

function* nodesOf(root: Graph, exclude: readonly string[]): Generator<{ graph: Graph; node: NodeProto }> {
  for (const graph of root.all())
    for (const node of graph.nodes) if (!isExcluded(node, exclude)) yield { graph, node };
}

function matrixOf(graph: Graph, name: string | undefined): Tensor | undefined {
  const tensor = ownedConstant(graph, name)?.tensor;
  return tensor !== undefined && isQuantizable(tensor) && tensor.dims.length === 2 ? tensor : undefined;
}

/** Return the table that a MatMul multiplies with after a Transpose. */
export function headTable(graph: Graph, node: NodeProto): Tensor | undefined {
  const name = node.input[1] ?? '';
  const turn = graph.nodes.find(({ output }) => output[0] === name);
  if (turn === undefined || !isSwap(turn)) return undefined;
  // ONNX Runtime 1.30 crashes on a Transpose without perm behind DequantizeLinear.
  setAttribute(turn, 'perm', [1, 0]);
  return matrixOf(graph, turn.input[0]);
}

function gemmTable(graph: Graph, node: NodeProto): Tensor | undefined {
  if (node.opType !== 'Gemm' || intAttribute(node, 'transB', 0) === 0) return undefined;
  const isPlain =
    intAttribute(node, 'transA', 0) === 0 &&
    floatAttribute(node, 'alpha', 1) === 1 &&
    floatAttribute(node, 'beta', 1) === 1;
  return isPlain ? matrixOf(graph, node.input[1]) : undefined;
}

function transposedProduct(node: NodeProto, names: Names): NodeProto[] {
  const [input = '', table = '', bias = ''] = node.input;
  const [output = ''] = node.output;
  const turned = names.make(`${table}_transposed`);
  const product = bias === '' ? output : names.make(`${output}_product`);
  return [
    makeNode('Transpose', [table], [turned], { name: turned, attributes: { perm: [1, 0] } }),
    makeNode('MatMul', [input, turned], [product], { name: node.name }),
    ...(bias === ''
      ? []
      : [makeNode('Add', [product, bias], [output], { name: names.make(`${output}_bias`) })]),
  ];
}
