import type { Settings } from './settings.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The input for opening services: the variables of the function or job, and the settings read from them. */
export interface Platform {
  environment: Environment;
  settings: Settings;
}

/**
 * A service that an endpoint or job may need, at an access level. The level determines the actions that its IAM
 * role is granted. The return type of `open` determines the methods that the behaviour can call. A function's
 * bundle contains only the clients of its needs.
 */
export interface Need<S> {
  readonly resource: 'accounts' | 'records' | 'objects' | 'batch' | 'mail' | 'timers';
  /** `write` includes `read` and `append`; `observe` is Describe and List, `control` adds Submit and Terminate. */
  readonly level: 'read' | 'append' | 'write' | 'observe' | 'control' | 'publish' | 'set';
  /** The needed part of the resource; the whole resource by default. */
  readonly scope?: Scope;
  open(platform: Platform): S;
}

/** The part of a table or of the bucket that the role of a function or job may access. */
export interface Scope {
  /** Partition keys of a table. A trailing `*` matches every key with this prefix. */
  readonly partitions?: readonly string[];
  /** Partitions that a write only checks for the existence of a record. */
  readonly checked?: readonly string[];
  /** Prefixes of keys in the bucket. */
  readonly prefixes?: readonly string[];
}

/**
 * Restrict a need to a part of its resource. `open` returns the same service; the store refuses access to other
 * parts.
 */
export const within = <S>(need: Need<S>, scope: Scope): Need<S> => ({ ...need, scope });

export type Needs = Readonly<Record<string, Need<unknown>>>;

/** The services of the needs `N`, each at its level. */
export type Services<N extends Needs> = { [Name in keyof N]: N[Name] extends Need<infer S> ? S : never };

/** Open every service of `needs`. */
export function openServices(needs: Needs, platform: Platform): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(needs).map(([name, need]) => [name, need.open(platform)]));
}
