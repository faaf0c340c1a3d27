import type { Settings } from './settings.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** What services are opened from: the variables of the function or job, and the settings read from them. */
export interface Platform {
  environment: Environment;
  settings: Settings;
}

/**
 * A service that an endpoint or job may need, at a level. The level names the actions that its role is granted;
 * what `open` returns types what the behaviour can do. A function's bundle holds only the clients of what it needs.
 */
export interface Need<S> {
  readonly resource: 'accounts' | 'records' | 'objects' | 'batch';
  /** `write` includes `read`; `observe` is Describe and List, `control` adds Submit and Terminate. */
  readonly level: 'read' | 'write' | 'observe' | 'control';
  /** The part of the resource that is needed; all of it where there is none. */
  readonly scope?: Scope;
  open(platform: Platform): S;
}

/** A part of a table or of the bucket, to which the role of a function or job is held. */
export interface Scope {
  /** Partition keys of a table; one that ends in `*` stands for all that begin so. */
  readonly partitions?: readonly string[];
  /** Partitions of which a write only checks that something is there. */
  readonly checked?: readonly string[];
  /** Beginnings of the keys in the bucket. */
  readonly prefixes?: readonly string[];
}

/** A need of only a part of its resource. What it opens is the same: it is the store that refuses everything else. */
export const within = <S>(need: Need<S>, scope: Scope): Need<S> => ({ ...need, scope });

export type Needs = Readonly<Record<string, Need<unknown>>>;

/** The services that `N` names, each at its level. */
export type Services<N extends Needs> = { [Name in keyof N]: N[Name] extends Need<infer S> ? S : never };

/** Opens everything that `needs` names. */
export function openServices(needs: Needs, platform: Platform): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(needs).map(([name, need]) => [name, need.open(platform)]));
}
