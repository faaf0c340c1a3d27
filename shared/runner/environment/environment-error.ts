import { JobError } from '../job/job-error.ts';

/** Code of the reason why an environment could not be prepared; stable, for callers and tests. */
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

/** Why an environment could not be prepared. */
export class EnvironmentError extends JobError {
  override readonly name = 'EnvironmentError';
  readonly code: EnvironmentErrorCode;

  constructor(code: EnvironmentErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}
