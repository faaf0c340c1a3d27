import type { AddedFile } from './pack-files.ts';

/** The environment that a folder asks for. */
export interface ChosenEnvironment {
  env_type: 'python' | 'node' | 'system' | 'docker';
  dependencies: string;
  /** Why it was chosen. */
  reason: string;
  /** A file that the source gets for it. */
  added?: AddedFile;
}
