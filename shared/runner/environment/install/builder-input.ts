import type { ResolvedDependency } from '../dependencies/resolved-dependencies.ts';
import type { DownloadCache } from '../downloads/download-cache.ts';
import type { PlacedRequirement } from './build-fault.ts';
import type { RunCommand } from './installer.ts';
import type { Interpreter } from './interpreter.ts';

/** The input of the builder of one kind of environment. */
export interface EnvironmentBuild {
  /** The environment's final folder: empty, and still the service's. */
  folder: string;
  /** Folder with copies of the source's own packages, at the relative paths in `copies`. */
  packages: string;
  copies: ReadonlyMap<ResolvedDependency, string>;
  dependencies: readonly ResolvedDependency[];
  /** Where the source requires them, for messages. */
  required: readonly PlacedRequirement[];
  interpreter: Interpreter;
  run: RunCommand;
  env: Readonly<Record<string, string>>;
  /** Runs programs with the service's own rights, in this environment. They run no code of packages. */
  service: { run: RunCommand; env: Readonly<Record<string, string>> };
  /** Returns the program uv, which may have to be fetched. */
  uv(): Promise<string>;
  /** uv's cache of all projects of this host, which the service alone uses. */
  host: string;
  /** Whether the wheels that this project installs may come into that cache. */
  isShared: boolean;
  stop: AbortSignal;
  log(line: string): void;
  /** A folder of the supervisor for this build alone, on the disk of the environments. */
  scratch: string;
  /** The builder; only if this process is root. */
  owner: { uid: number; gid: number } | undefined;
  /** Downloads that the bucket keeps for all hosts; undefined if it keeps none. */
  downloads: DownloadCache | undefined;
}
