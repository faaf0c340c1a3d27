import { JobError } from '../job/job-error.ts';

/** Stable error code for callers and tests: the reason why an environment could not be prepared. */
export type EnvironmentErrorCode =
  | 'bad-dependencies'
  | 'python-missing'
  | 'venv-missing'
  | 'node-missing'
  | 'npm-missing'
  | 'engine-missing'
  | 'install-failed'
  | 'pack-refused'
  | 'disk-full'
  | 'stopped';

/** The environment could not be prepared. */
export class EnvironmentError extends JobError {
  override readonly name = 'EnvironmentError';
  readonly code: EnvironmentErrorCode;

  constructor(code: EnvironmentErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}
