import type { PythonCondition } from '../../../shared/runner/environment/install/python-version.ts';
import type { AddedFile } from '../source/pack-files.ts';

/** Environment for a folder. */
export interface ChosenEnvironment {
  env_type: 'python' | 'node' | 'system' | 'docker';
  dependencies: string;
  /** Reason for the choice. */
  reason: string;
  /** The condition on the version of Python in `dependencies`, and the declaration that states it. */
  python?: PythonCondition | undefined;
  /** What of the files is not followed, a sentence each. */
  notes?: readonly string[];
  /** A file to add to the source. */
  added?: AddedFile;
}
