import { isAlias, isMap, isScalar, isSeq, type Pair, type Scalar, type YAMLMap, type YAMLSeq } from 'yaml';
import { composeYaml } from './compose-yaml.ts';
import { ConfigSyntaxError, positionAt, quoted } from './config-syntax-error.ts';
import {
  type ConfigCollection,
  type ConfigMapping,
  type ConfigScalar,
  type ConfigValue,
  emptyMapping,
  exactNumber,
  isMapping,
  maxConfigDepth,
} from './config-value.ts';
import type { CollectionLinks, ConfigLinks, ConfigPlace, YamlAlias } from './yaml-links.ts';

/** A converted value, its length in characters of JSON, and its depth of nested collections. */
interface Converted {
  value: ConfigValue;
  characters: number;
  height: number;
}

interface Anchored {
  /** Undefined for anchors on keys, which no graph shows. */
  place: ConfigPlace | undefined;
  /** Undefined while the anchored value is still being read. */
  converted?: Converted;
}

/**
 * Maximum number of characters of JSON that aliases may add to a document. Nested aliases double its size at every
 * level.
 */
const maxAliasCharacters = 1024 * 1024;

interface Inherited {
  source: ConfigMapping;
  alias: YamlAlias | undefined;
}

/**
 * Parse a YAML 1.2 document to plain data. Merge `<<` as in YAML 1.1: own keys win, then earlier sources. Convert
 * keys that are numbers, booleans or null to strings. Refuse keys that are collections.
 */
export function parseYaml(text: string): { value: ConfigValue; links: ConfigLinks } {
  const anchors = new Map<string, Anchored>();
  const links = new Map<ConfigCollection, CollectionLinks>();
  let aliasCharacters = 0;

  function fail(fault: string, node: unknown): never {
    throw new ConfigSyntaxError(fault, positionAt(text, startOf(node)));
  }

  function follow(node: { source: string }): { converted: Converted; alias: YamlAlias | undefined } {
    const anchored = anchors.get(node.source);
    if (anchored === undefined) return fail(`the alias *${node.source} has no anchor before it`, node);
    const { converted, place } = anchored;
    if (converted === undefined) return fail(`the alias *${node.source} is within its own anchor`, node);
    aliasCharacters += converted.characters;
    if (aliasCharacters > maxAliasCharacters)
      fail('the aliases of this document expand to more than 1 MiB', node);
    return { converted, alias: place && { anchor: node.source, target: place } };
  }

  function linksOf(within: ConfigCollection): CollectionLinks {
    const present = links.get(within) ?? { aliases: new Map(), merges: [] };
    links.set(within, present);
    return present;
  }

  function convert(node: unknown, depth: number, place?: ConfigPlace): Converted {
    if (node === null || node === undefined) return { value: null, characters: 4, height: 0 };
    if (isAlias(node)) {
      const { converted, alias } = follow(node);
      if (place !== undefined && alias !== undefined) linksOf(place.within).aliases.set(place.key, alias);
      if (depth + converted.height > maxConfigDepth)
        fail(`nested deeper than ${maxConfigDepth} levels`, node);
      return converted;
    }
    const anchored: Anchored = { place };
    if ((isScalar(node) || isMap(node) || isSeq(node)) && node.anchor) anchors.set(node.anchor, anchored);
    anchored.converted = isScalar(node) ? convertScalar(node) : convertCollection(node, depth + 1);
    return anchored.converted;
  }

  function convertCollection(node: unknown, depth: number): Converted {
    if (depth > maxConfigDepth) fail(`nested deeper than ${maxConfigDepth} levels`, node);
    if (isMap(node)) return convertMap(node, depth);
    if (isSeq(node)) return convertSeq(node, depth);
    return fail('this is not a value', node);
  }

  function convertSeq(node: YAMLSeq, depth: number): Converted {
    const list: ConfigValue[] = [];
    const result = { value: list, characters: 2, height: 1 };
    for (const [index, item] of node.items.entries()) {
      const converted = convert(item, depth, { within: list, key: index });
      list.push(converted.value);
      grow(result, converted, 1);
    }
    return result;
  }

  function convertMap(node: YAMLMap, depth: number): Converted {
    const mapping = emptyMapping();
    const result = { value: mapping, characters: 2, height: 1 };
    const own = new Map<string, ConfigValue>();
    const inherited: Inherited[] = [];
    for (const pair of node.items) {
      if (isMergeKey(pair)) {
        for (const source of mergeSources(pair.value, depth, result)) inherited.push(source);
        continue;
      }
      const key = keyText(pair.key);
      if (own.has(key)) fail(`the key ${quoted(key)} is given twice in one mapping`, pair.key);
      const converted = convert(pair.value, depth, { within: mapping, key });
      own.set(key, converted.value);
      grow(result, converted, JSON.stringify(key).length + 2);
    }
    for (const { source, alias } of inherited) {
      const keys = Object.keys(source).filter((key) => !own.has(key) && !(key in mapping));
      for (const key of keys) mapping[key] = source[key] ?? null;
      if (alias !== undefined) linksOf(mapping).merges.push({ ...alias, keys });
    }
    for (const [key, value] of own) mapping[key] = value;
    return result;
  }

  function mergeSources(node: unknown, depth: number, result: Converted): Inherited[] {
    return (isSeq(node) ? node.items : [node]).map((item) => {
      const followed = isAlias(item) ? follow(item) : undefined;
      const converted = followed?.converted ?? convert(item, depth);
      if (!isMapping(converted.value)) fail('<< must name a mapping or a list of mappings', item ?? node);
      if (depth + converted.height - 1 > maxConfigDepth)
        fail(`nested deeper than ${maxConfigDepth} levels`, item);
      grow(result, { ...converted, height: converted.height - 1 }, 0);
      return { source: converted.value, alias: followed?.alias };
    });
  }

  function keyText(node: unknown): string {
    const { value } =
      isScalar(node) || isAlias(node) || node === null ? convert(node, 0) : { value: undefined };
    if (value === undefined || (typeof value === 'object' && value !== null)) {
      return fail('a key must be a text, a number, a boolean or null, not a collection', node);
    }
    return String(value);
  }

  const document = composeYaml(text);
  return { value: convert(document?.contents, 0).value, links };
}

function startOf(node: unknown): number {
  return isScalar(node) || isMap(node) || isSeq(node) || isAlias(node) ? (node.range?.[0] ?? 0) : 0;
}

function convertScalar({ value }: Scalar): Converted {
  const scalar = plainScalar(value);
  return { value: scalar, characters: JSON.stringify(scalar).length, height: 0 };
}

function plainScalar(value: unknown): ConfigScalar {
  if (typeof value === 'bigint' || typeof value === 'number') return exactNumber(value);
  if (typeof value === 'boolean' || value === null) return value;
  return String(value);
}

function grow(outer: Converted, inner: Converted, extra: number): void {
  outer.characters += inner.characters + extra;
  outer.height = Math.max(outer.height, inner.height + 1);
}

function isMergeKey({ key }: Pair<unknown, unknown>): boolean {
  return isScalar(key) && key.value === '<<' && key.type === 'PLAIN';
}
