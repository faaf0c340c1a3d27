/** Why a job cannot go on. The message becomes its `status_reason`, so it is for the user who started the job. */
export class JobError extends Error {
  override readonly name: string = 'JobError';
}
