import { nearestName } from '../../../core/nearest-name.ts';
import { type Graph, namesOf, operatorName } from '../../model/graph/graph.ts';
import { isKnownOperator } from '../../model/infer/infer-values.ts';
import { ModelError } from '../../model/model-error.ts';

/** Maximum number of entries that a message names. Further entries are only counted. */
const maxTold = 10;

/**
 * Refuse a list that contains nodes or operators unknown to the model, bodies of control flow included. A misspelt
 * name would silently exclude nothing. A known operator that this model does not have is allowed, because one list
 * may serve many models. Return those operators.
 *
 * @throws ModelError that names every unknown entry and the closest name
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
    `exclude has unknown names: ${list.join(', ')}${more}. Allowed are names of nodes (the first output of a node without a name) and operator types of the model: ${operatorsOf(root)}.`,
  );
}

function told(entry: string, known: ReadonlySet<string>): string {
  const near = nearestName(entry, known);
  return near === undefined ? quoted(entry) : `${quoted(entry)} (did you mean ${quoted(near)}?)`;
}

const longest = 80;

const quoted = (name: string): string =>
  JSON.stringify(name.length > longest ? `${name.slice(0, longest)}…` : name);

/** Maximum number of operators in a message, and of characters of a name. */
const maxOperators = 20;

function operatorsOf(root: Graph): string {
  const all = new Set([...root.all()].flatMap(({ nodes }) => nodes.map(operatorName)));
  const some = [...all]
    .sort()
    .slice(0, maxOperators)
    .map((name) => name.slice(0, longest));
  return `${some.join(', ')}${all.size > some.length ? ', …' : ''}`;
}
