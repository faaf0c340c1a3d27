import type { CompleteEnvironment, EnvironmentFolder } from './cache/environment-folder.ts';
import type { ResolvedDependency } from './dependencies/resolved-dependencies.ts';
import type { DownloadCache } from './downloads/download-cache.ts';
import type { EnvironmentStore } from './environment-store.ts';
import type { IndexVariables } from './index-variables.ts';
import type { RunCommand } from './install/installer.ts';
import type { Interpreter } from './install/interpreter.ts';
import type { Variables } from './operator-environment.ts';
import type { SharedEnvironment } from './reuse/shared-environment.ts';

export interface ObtainOptions {
  envType: 'python' | 'node';
  key: string;
  place: EnvironmentFolder;
  dependencies: readonly ResolvedDependency[];
  interpreter: Interpreter;
  sourceFolder: string;
  store: EnvironmentStore;
  downloads?: DownloadCache;
  run: RunCommand;
  /** The same without output in the log. */
  probe: RunCommand;
  /** What this host keeps of the same request for all projects; nothing is reused unless given. */
  shared?: SharedEnvironment;
  operatorEnv: Variables;
  indexes: IndexVariables;
  owner?: { uid: number; gid: number };
  log(line: string): void;
  stop: AbortSignal;
}

export interface ObtainedEnvironment extends CompleteEnvironment {
  cache: 'hit' | 'miss';
  /** Whether the store has it. */
  stored: boolean;
}
