import type { AnyEndpoint } from '../definition/exchange.ts';

/** A group of operations, by the beginnings of their paths. */
export interface TagRule {
  name: string;
  description: string;
  /** `/projects/{project_id}/train` is the beginning of that path and of those below it; `/` is itself alone. */
  paths: readonly string[];
}

const below = (path: string, beginning: string): boolean =>
  path === beginning ||
  (beginning !== '/' && path.startsWith(beginning.endsWith('/') ? beginning : `${beginning}/`));

/** The tag of the longest beginning that an endpoint's path has; its first segment where no rule is about it. */
export function tagOf({ path }: Pick<AnyEndpoint, 'path'>, rules: readonly TagRule[]): string {
  let found = { length: 0, name: path.split('/')[1] ?? '' };
  for (const { name, paths } of rules) {
    for (const beginning of paths) {
      if (beginning.length > found.length && below(path, beginning))
        found = { length: beginning.length, name };
    }
  }
  return found.name;
}
