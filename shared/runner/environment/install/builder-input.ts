import type { ResolvedDependency } from '../dependencies/resolved-dependencies.ts';
import type { DownloadCache } from '../downloads/download-cache.ts';
import type { RunCommand } from './installer.ts';
import type { Interpreter } from './interpreter.ts';

/** The input of the builder of one kind of environment. */
export interface EnvironmentBuild {
  /** The environment's final folder: empty, and owned by the user who runs the commands. */
  folder: string;
  /** Folder with copies of the source's own packages, at the relative paths in `copies`. */
  packages: string;
  copies: ReadonlyMap<ResolvedDependency, string>;
  dependencies: readonly ResolvedDependency[];
  interpreter: Interpreter;
  run: RunCommand;
  /** As `run`, without output in the log. */
  probe: RunCommand;
  env: Readonly<Record<string, string>>;
  stop: AbortSignal;
  log(line: string): void;
  /** Cached downloads of all projects; undefined if nothing may be kept. */
  downloads: DownloadCache | undefined;
}
