import type { ConfigCollection } from './config-value.ts';

/** A position in a document: a key of a mapping, or an index of a list. */
export interface ConfigPlace {
  readonly within: ConfigCollection;
  readonly key: string | number;
}

/** `*anchor` at a position, and the position of its `&anchor`. */
export interface YamlAlias {
  readonly anchor: string;
  readonly target: ConfigPlace;
}

/** `<<: *anchor` in a mapping, with the keys that the mapping inherits from it. */
interface YamlMerge extends YamlAlias {
  readonly keys: readonly string[];
}

/** References of one collection: aliases by key or index, and merges in order of precedence. */
export interface CollectionLinks {
  readonly aliases: Map<string | number, YamlAlias>;
  readonly merges: YamlMerge[];
}

/** Aliases of a document, keyed by the collection object in its data; empty for JSON and TOML. */
export type ConfigLinks = ReadonlyMap<ConfigCollection, CollectionLinks>;
