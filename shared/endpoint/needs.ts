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
  open(platform: Platform): S;
}

export type Needs = Readonly<Record<string, Need<unknown>>>;

/** The services that `N` names, each at its level. */
export type Services<N extends Needs> = { [Name in keyof N]: N[Name] extends Need<infer S> ? S : never };

/** Opens everything that `needs` names. */
export function openServices(needs: Needs, platform: Platform): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(needs).map(([name, need]) => [name, need.open(platform)]));
}
