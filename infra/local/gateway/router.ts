import { servedMethods } from '../../../shared/http/definition/request-method.ts';
import type { LoadedEndpoint } from '../../service/endpoints.ts';
import { routeOf } from '../../service/routes.ts';

/**
 * Find the endpoint of a path as API Gateway does: fixed words before variables before greedy variables, with or
 * without a trailing slash. Decode nothing: `%2F` separates no segments, and functions get variables unchanged.
 */
export function createRouter<E extends LoadedEndpoint>(
  endpoints: readonly E[],
): (path: string) => Match<E> | undefined {
  const root = emptyNode<E>();
  for (const loaded of endpoints) {
    const { methods } = leafOf(root, loaded);
    if (methods.has(loaded.endpoint.method))
      throw new Error(`${loaded.file}: another endpoint already has this method and path`);
    for (const method of servedMethods(loaded.endpoint.method)) methods.set(method, loaded);
  }

  return (path) => {
    const segments = path.slice(1).split('/');
    const trailing = segments.at(-1) === '';
    const whole = trailing ? segments.slice(0, -1) : segments;
    const parameters: Record<string, string> = {};
    let node: Node<E> = root;
    for (const [position, word] of whole.entries()) {
      if (word === '') return undefined;
      const next = node.words.get(word);
      if (next !== undefined) {
        node = next;
      } else if (node.variable !== undefined) {
        parameters[node.variable.name] = word;
        node = node.variable.node;
      } else if (node.greedy !== undefined) {
        const rest = segments.slice(position).join('/');
        return { leaf: node.greedy.leaf, parameters: { ...parameters, [node.greedy.name]: rest } };
      } else {
        return undefined;
      }
    }
    return node.leaf && { leaf: node.leaf, parameters };
  };
}

export interface Match<E> {
  leaf: Leaf<E>;
  /** Path parameters by the names of the route, percent-encoded as sent. */
  parameters: Record<string, string>;
}

/** Endpoints of one path, by method. */
export interface Leaf<E> {
  resource: string;
  methods: Map<string, E>;
}

const emptyNode = <E>(): Node<E> => ({ words: new Map() });

interface Node<E> {
  words: Map<string, Node<E>>;
  variable?: { name: string; node: Node<E> };
  greedy?: { name: string; leaf: Leaf<E> };
  leaf?: Leaf<E>;
}

function leafOf<E extends LoadedEndpoint>(root: Node<E>, loaded: E): Leaf<E> {
  const { resource, segments } = routeOf(loaded.endpoint);
  let node: Node<E> = root;
  for (const segment of segments) {
    if ('word' in segment) {
      const next = node.words.get(segment.word) ?? emptyNode<E>();
      node.words.set(segment.word, next);
      node = next;
    } else if (segment.greedy) {
      node.greedy ??= { name: segment.variable, leaf: { resource, methods: new Map() } };
      return node.greedy.leaf;
    } else {
      node.variable ??= { name: segment.variable, node: emptyNode<E>() };
      node = node.variable.node;
    }
  }
  node.leaf ??= { resource, methods: new Map() };
  return node.leaf;
}
