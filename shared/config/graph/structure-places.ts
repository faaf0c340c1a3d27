import type { ConfigCollection, ConfigValue } from '../config-value.ts';
import type { ConfigLinks } from '../yaml-links.ts';

/** Most mappings through which a key may be inherited. The limit stops attacks with long chains. */
const maxInheritance = 100;

/** Map of each position in a document to its node. */
export class StructurePlaces {
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
