import type { ResolvedDependency } from '../dependencies/resolved-dependencies.ts';
import type { DownloadCache } from '../downloads/download-cache.ts';
import type { SharedEnvironment } from '../shared-environment.ts';
import type { WheelStore } from '../wheels/wheel-store.ts';
import type { PlacedRequirement } from './build-fault.ts';
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
  /** Where the source requires them, for messages. */
  required: readonly PlacedRequirement[];
  interpreter: Interpreter;
  run: RunCommand;
  /** As `run`, without output in the log. */
  probe: RunCommand;
  env: Readonly<Record<string, string>>;
  stop: AbortSignal;
  log(line: string): void;
  /** A folder of the supervisor for this build alone, on the disk of the environments. */
  scratch: string;
  /** The builder; only if this process is root. */
  owner: { uid: number; gid: number } | undefined;
  /** Unpacked wheels of all projects; undefined if nothing may be shared. */
  wheels: WheelStore | undefined;
  /** The host's virtual environment with pip alone, for this interpreter; undefined if nothing may be shared. */
  blank: SharedEnvironment | undefined;
  /** Cached downloads of all projects; undefined if nothing may be kept. */
  downloads: DownloadCache | undefined;
}
