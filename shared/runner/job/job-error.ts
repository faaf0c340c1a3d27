/**
 * The reason why a job cannot continue. The message becomes its `status_reason`, so it is for the user who started
 * the job.
 */
export class JobError extends Error {
  override readonly name: string = 'JobError';
}

/** Another container took over the job, or the job was ended. This container may write nothing more for it. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';

  constructor(options?: ErrorOptions) {
    super(
      'this container no longer holds the job: another container took it over, or the job has ended',
      options,
    );
  }
}
