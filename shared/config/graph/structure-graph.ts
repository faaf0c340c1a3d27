import { type ConfigCollection, type ConfigScalar, type ConfigValue, isMapping } from '../config-value.ts';
import type { ParsedConfig } from '../parse-config-file.ts';
import type { ConfigLinks, YamlAlias } from '../yaml-links.ts';
import type { ConfigGraphNode } from './config-graph.ts';
import { clip } from './draw/clip.ts';
import { GraphDraft } from './graph-draft.ts';
import { isScalarList, joined, smallScalar } from './node-attributes.ts';
import { type Reference, referencesIn } from './references.ts';

interface Found {
  id: string;
  attributes: ConfigGraphNode['attributes'];
  parents: readonly ConfigCollection[];
  references: Reference[];
}

/**
 * Build the document's tree: a node for each mapping, list and scalar. A list of plain scalars is one node.
 * Further edges lead from texts with `${a.b}` to that value, from YAML aliases to their anchor (`*name`), and from
 * mappings to their merge sources (`<< *name`). A text with an unresolved reference lists it in `unresolved`. Keys
 * that come only from a merge are not repeated.
 */
export function structureGraph(configId: string, { data, links }: ParsedConfig): GraphDraft {
  const draft = new GraphDraft();
  const places = new StructurePlaces(links);
  const texts: Found[] = [];
  const aliases: { id: string; alias: YamlAlias; mark: string }[] = [];

  function add(value: ConfigValue, id: string, label: string, parents: readonly ConfigCollection[]): string {
    if (typeof value === 'string') {
      const references = referencesIn(value);
      if (references.length > 0) {
        const attributes: Found['attributes'] = { value: clip(value) };
        const node = draft.addNode(id, label, 'reference', attributes);
        texts.push({ id: node, attributes, parents, references });
        return node;
      }
    }
    if (typeof value !== 'object' || value === null)
      return draft.addNode(id, label, scalarType(value), { value: smallScalar(value) });
    if (isPlainList(value)) {
      const list = draft.addNode(id, label, 'list', {
        value: clip(`[${joined(value)}]`),
        length: value.length,
      });
      places.set(value, list);
      return list;
    }
    const attributes: Found['attributes'] = { length: Object.keys(value).length };
    const merges = links.get(value)?.merges.map(({ anchor }) => `<< *${anchor}`) ?? [];
    if (merges.length > 0) attributes['merges'] = clip(merges.join(', '));
    const node = draft.addNode(id, label, isMapping(value) ? 'mapping' : 'list', attributes);
    addMembers(value, node, [...parents, value]);
    return node;
  }

  /** The maximum depth of a parsed file bounds the recursion. */
  function addMembers(value: ConfigCollection, id: string, parents: readonly ConfigCollection[]): void {
    const link = links.get(value);
    const inherited = new Set(link?.merges.flatMap((merge) => merge.keys));
    const isList = Array.isArray(value);
    for (const [key, member] of Object.entries(value)) {
      if (inherited.has(key)) continue;
      const wanted = isList ? `${id}[${key}]` : childId(id, key);
      const label = isList ? `[${key}]` : key;
      const alias = link?.aliases.get(isList ? Number(key) : key);
      const child =
        alias === undefined
          ? add(member, wanted, label, parents)
          : draft.addNode(wanted, label, 'alias', { value: `*${clip(alias.anchor)}` });
      if (alias !== undefined) aliases.push({ id: child, alias, mark: '*' });
      places.setMember(value, key, child);
      draft.connect(id, child);
    }
    for (const merge of link?.merges ?? []) aliases.push({ id, alias: merge, mark: '<< *' });
  }

  /**
   * Return whether a list holds only scalars, without references and aliases. Edges then start and end at the
   * exact value.
   */
  function isPlainList(value: ConfigCollection): value is ConfigScalar[] {
    return (
      isScalarList(value) &&
      links.get(value) === undefined &&
      !value.some((item) => typeof item === 'string' && item.includes('${'))
    );
  }

  add(data, '$', configId, []);
  for (const { id, attributes, parents, references } of texts) {
    for (const reference of references) {
      const start = reference.up === 0 ? data : parents.at(-reference.up);
      const target = start && places.find(start, reference.path);
      if (target === undefined) attributes['unresolved'] ??= clip(reference.written);
      else draft.connect(id, target, `\${${reference.written}}`);
    }
  }
  for (const { id, alias, mark } of aliases) {
    const target = places.find(alias.target.within, [String(alias.target.key)]);
    if (target !== undefined) draft.connect(id, target, `${mark}${alias.anchor}`);
  }
  return draft;
}

/** Most mappings through which a key may be inherited. The limit stops attacks with long chains. */
const maxInheritance = 100;

/** Map of each position in a document to its node. */
class StructurePlaces {
  readonly #collections = new Map<ConfigCollection, string>();
  readonly #members = new Map<ConfigCollection, Map<string, string>>();
  readonly #sources = new Map<ConfigCollection, Map<string, ConfigCollection>>();
  readonly #links: ConfigLinks;

  constructor(links: ConfigLinks) {
    this.#links = links;
  }

  set(collection: ConfigCollection, node: string): void {
    this.#collections.set(collection, node);
  }

  setMember(within: ConfigCollection, key: string, node: string): void {
    const members = this.#members.get(within) ?? new Map();
    this.#members.set(within, members.set(key, node));
  }

  /**
   * Find the node at a path of keys and indexes (at least one), through aliases and merges; undefined if nothing
   * is there.
   */
  find(start: ConfigCollection, path: readonly string[]): string | undefined {
    let within: ConfigValue | undefined = start;
    for (const key of path.slice(0, -1)) within = memberOf(within, key);
    const last = path.at(-1);
    if (last === undefined || memberOf(within, last) === undefined) return undefined;
    return typeof within === 'object' && within !== null ? this.#nodeOf(within, last) : undefined;
  }

  #nodeOf(collection: ConfigCollection, key: string): string | undefined {
    let within: ConfigCollection | undefined = collection;
    for (let steps = 0; within !== undefined && steps < maxInheritance; steps += 1) {
      // A list of plain scalars is one node, which also represents its members.
      const node =
        this.#members.get(within)?.get(key) ??
        (Array.isArray(within) ? this.#collections.get(within) : undefined);
      if (node !== undefined) return node;
      within = this.#sourceOf(within, key);
    }
    return undefined;
  }

  /** Find the mapping that a merged key comes from. */
  #sourceOf(within: ConfigCollection, key: string): ConfigCollection | undefined {
    let sources = this.#sources.get(within);
    if (sources === undefined) {
      sources = new Map();
      for (const { keys, target } of this.#links.get(within)?.merges ?? []) {
        const source = memberOf(target.within, String(target.key));
        if (typeof source === 'object' && source !== null)
          for (const inherited of keys) sources.set(inherited, source);
      }
      this.#sources.set(within, sources);
    }
    return sources.get(key);
  }
}

function memberOf(within: ConfigValue | undefined, key: string): ConfigValue | undefined {
  if (typeof within !== 'object' || within === null) return undefined;
  if (Array.isArray(within)) return /^\d+$/.test(key) ? within[Number(key)] : undefined;
  return within[key];
}

function scalarType(value: ConfigScalar): string {
  return value === null ? 'null' : typeof value;
}

/**
 * Return a node's ID: `model.lr`, or `model["learning rate"]` for keys that are no plain words. The brackets keep
 * IDs distinct.
 */
function childId(parent: string, key: string): string {
  if (!/^[A-Za-z_][\w-]*$/.test(key))
    return `${parent === '$' ? '' : parent}[${clip(JSON.stringify(key), 201)}]`;
  return parent === '$' ? key : `${parent}.${key}`;
}
