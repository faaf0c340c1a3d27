import { type Graph, namesOf, operatorName } from '../../model/graph/graph.ts';
import { isKnownOperator } from '../../model/infer/infer-values.ts';
import { ModelError } from '../../model/model-error.ts';
import { nearestName } from './near-names.ts';

/** Entries of a list in a message; the others are only counted. */
const maxTold = 10;

/**
 * Refuses a list of nodes and operators that holds what the model does not have, bodies of control flow included: a
 * misspelt name would silently exclude nothing. A known operator that this model does not have is allowed, because
 * one list may serve many models. Returns those operators.
 *
 * @throws ModelError naming every unknown entry, and the closest name
 */
export function requireKnown(root: Graph, exclude: readonly string[]): string[] {
  if (exclude.length === 0) return [];
  const known = new Set<string>();
  for (const { nodes, hoisted } of root.all()) {
    for (const name of hoisted) known.add(name);
    for (const node of nodes) for (const name of namesOf(node)) known.add(name);
  }
  const absent = [...new Set(exclude)].filter((entry) => !known.has(entry));
  const unknown = absent.filter((entry) => !isKnownOperator(entry));
  if (unknown.length === 0) return absent;
  const list = unknown.slice(0, maxTold).map((entry) => told(entry, known));
  const more = unknown.length > maxTold ? ` and ${unknown.length - maxTold} more` : '';
  throw new ModelError(
    `exclude names what the model does not have: ${list.join(', ')}${more}. Entries are names of nodes (that of its first output where a node has none), or types of operators; the model has ${operatorsOf(root)}.`,
  );
}

function told(entry: string, known: ReadonlySet<string>): string {
  const near = nearestName(entry, known);
  return near === undefined ? quoted(entry) : `${quoted(entry)} (did you mean ${quoted(near)}?)`;
}

const longest = 80;

const quoted = (name: string): string =>
  JSON.stringify(name.length > longest ? `${name.slice(0, longest)}…` : name);

/** Operators that a message lists, and characters of a name. */
const maxOperators = 20;

function operatorsOf(root: Graph): string {
  const all = new Set([...root.all()].flatMap(({ nodes }) => nodes.map(operatorName)));
  const some = [...all]
    .sort()
    .slice(0, maxOperators)
    .map((name) => name.slice(0, longest));
  return `${some.join(', ')}${all.size > some.length ? ', …' : ''}`;
}
