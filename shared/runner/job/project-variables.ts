import type { SecretMask } from '../host/secret-mask.ts';
import type { JobError } from './job-error.ts';

/** The environment variables of the project, as they were when the job was submitted. */
export interface ProjectVariables {
  values: Readonly<Record<string, string>>;
  /** Masks the secret ones. */
  mask: SecretMask;
  /** Why they cannot be had; the job then fails, with its log. */
  fault?: JobError;
}
