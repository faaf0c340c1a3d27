/** Why a job cannot go on. The message becomes its `status_reason`, so it is for the user who started the job. */
export class JobError extends Error {
  override readonly name: string = 'JobError';
}

/** Another container took the job over, or the job was ended: nothing may be written for it any more. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';

  constructor(options?: ErrorOptions) {
    super('this container no longer holds the job: another took it over, or the job has ended', options);
  }
}
