import { type Model, microsoft } from '../../../model/file/model.ts';
import { isExcluded } from '../../../model/graph/graph.ts';
import { outerNames } from '../../../model/graph/graph-index.ts';
import type { NodeProto } from '../../../model/proto/onnx_pb.js';
import { layerName } from '../outcome.ts';
import { DependencyGraph } from './dependency-graph.ts';
import { elementwiseRules } from './rules/elementwise-rules.ts';
import { fusedLayerRules, fusedRules } from './rules/fused-rules.ts';
import { joiningRules } from './rules/joining-rules.ts';
import { layerRules } from './rules/layer-rules.ts';
import { normRules } from './rules/norm-rules.ts';
import { type ChannelRule, RuleContext } from './rules/rule-context.ts';
import { followCounts, shapeRules } from './rules/shape-rules.ts';

/**
 * Analyze a model's graph. Find the removable channels, the channels that must go with them, and everything that
 * must change: the axes of constants, and shapes. The model stays unchanged.
 */
export function buildDependencyGraph(model: Model, exclude: readonly string[]): DependencyGraph {
  const dependencies = new DependencyGraph(model);
  const { graph } = model;
  for (const node of graph.nodes) {
    visit(new RuleContext(dependencies, node, isExcluded(node, exclude)));
    lockNames(dependencies, outerNames(graph, node), `a body of ${node.opType} uses them`);
  }
  lockNames(
    dependencies,
    graph.outputs.map(({ name }) => name),
    'they are an output of the model',
  );
  lockShared(dependencies);
  return dependencies;
}

function visit(context: RuleContext): void {
  const { dependencies, node } = context;
  const layers = node.domain === '' ? layerRules : node.domain === microsoft ? fusedLayerRules : undefined;
  const layer = layers?.get(node.opType);
  followCounts(context);
  if (layer !== undefined) {
    layer(context);
    return;
  }
  const hasCounts =
    (node.opType === 'Reshape' || node.opType === 'Expand') && dependencies.counts.has(node.input[1] ?? '');
  if (context.allCarried().length === 0 && !hasCounts) return;
  const rule = ruleOf(context);
  if (rule === undefined) context.lock(`${context.label} is not supported`);
  else rule(context);
}

function ruleOf({ node }: RuleContext): ChannelRule | undefined {
  const { opType, domain } = node;
  if (domain === microsoft) return fusedRules.get(opType);
  if (domain !== '') return undefined;
  return (
    elementwiseRules.get(opType) ??
    normRules.get(opType) ??
    joiningRules.get(opType) ??
    shapeRules.get(opType)
  );
}

/**
 * Lock channels of a weight that another node reads whole, such as a table that an output head shares: the cut weight
 * would be stored beside it.
 */
function lockShared({ cuts, channels, index }: DependencyGraph): void {
  const axesOf = (node: NodeProto, position: number): number[] =>
    cuts.filter((cut) => cut.node === node && cut.position === position).map(({ axis }) => axis);
  for (const { node, position, axis, labels, isWeight } of cuts) {
    const uses = isWeight ? index.uses(node.input[position] ?? '') : [];
    const reader = uses.find((use) => !axesOf(use.node, use.position).includes(axis));
    if (reader !== undefined)
      channels.lock(labels, `${reader.node.opType} ${layerName(reader.node)} reads the same weight whole`);
  }
}

function lockNames(dependencies: DependencyGraph, names: Iterable<string>, why: string): void {
  for (const name of names) {
    dependencies.channels.lock(dependencies.carried.get(name)?.labels ?? [], why);
    for (const labels of dependencies.counts.get(name) ?? []) dependencies.channels.lock(labels ?? [], why);
  }
}
