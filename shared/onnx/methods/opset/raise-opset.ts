import { Model } from '../../model/file/model.ts';
import { type Graph, Names, nodeName } from '../../model/graph/graph.ts';
import { inferValues } from '../../model/infer/infer-values.ts';
import { isInOpset } from '../../model/infer/operator-schema.ts';
import type { Value } from '../../model/infer/value.ts';
import { ModelError } from '../../model/model-error.ts';
import type { NodeProto } from '../../model/proto/onnx_pb.js';
import { operatorChanges } from './operator-changes.ts';

/** Maximum number of nodes in a message. */
const maxTold = 3;

/** IR version of opset 17. From IR version 4 on, constants need not be inputs. */
const irVersion = 8n;

/**
 * Raise the opset of a model. Rewrite every operator whose meaning changed, so the model still computes the same.
 * This includes bodies of control flow. Do not use the model if this fails.
 *
 * @throws ModelError that names the nodes without a conversion
 */
export function raiseOpset(model: Model, to: number): void {
  const { graph, proto, external } = model;
  const own = model.opset();
  if (own >= to) return;
  const names = new Names(graph);
  const faults = unpublished(graph, to);
  for (const [version, changes] of operatorChanges) {
    if (version <= own || version > to) continue;
    let outer: ReadonlyMap<string, Value> = new Map();
    for (const part of graph.all()) {
      const values: ReadonlyMap<string, Value> = inferValues(
        new Model(proto, part, external),
        new Map(),
        outer,
      );
      if (part === graph) outer = values;
      faults.push(...raiseGraph(part, names, values, changes));
    }
    setOpset(model, version);
  }
  if (faults.length > 0) {
    const more = faults.length > maxTold ? `; and ${faults.length - maxTold} more` : '';
    throw new ModelError(
      `The model's opset ${own} cannot be raised to ${to}: ${faults.slice(0, maxTold).join('; ')}${more}.`,
    );
  }
  setOpset(model, to);
  if (proto.irVersion < 4n) graph.forgetDefaults();
  if (proto.irVersion < irVersion) proto.irVersion = irVersion;
}

function unpublished(root: Graph, version: number): string[] {
  return [...root.all()].flatMap(({ nodes }) =>
    nodes
      .filter(({ domain, opType }) => domain === '' && !isInOpset(opType, version))
      .map(
        (node) =>
          `${clipped(node.opType)} ${JSON.stringify(clipped(nodeName(node)))} is not a published ONNX operator`,
      ),
  );
}

/** Clip a name, which may have any length. */
const clipped = (text: string): string => (text.length > 100 ? `${text.slice(0, 100)}…` : text);

/** Convert the nodes of a graph to one opset. Return the reasons for nodes that cannot be converted. */
function raiseGraph(
  graph: Graph,
  names: Names,
  values: ReadonlyMap<string, Value>,
  changes: (typeof operatorChanges)[number][1],
): string[] {
  const faults: string[] = [];
  graph.nodes = graph.nodes.flatMap((node): readonly NodeProto[] => {
    const change =
      node.domain === '' && Object.hasOwn(changes, node.opType) ? changes[node.opType] : undefined;
    if (change === undefined) return [node];
    const kind = node.opType;
    const made = change({ node, graph, names, value: (name) => values.get(name) });
    if (typeof made !== 'string') return made;
    faults.push(`${kind} ${JSON.stringify(clipped(nodeName(node)))} ${made}`);
    return [node];
  });
  return faults;
}

function setOpset({ proto }: Model, version: number): void {
  for (const opset of proto.opsetImport) if (opset.domain === '') opset.version = BigInt(version);
}
