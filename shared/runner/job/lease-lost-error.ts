/** Another container took the job over, or the job was ended: nothing may be written for it any more. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';

  constructor(options?: ErrorOptions) {
    super('this container no longer holds the job: another took it over, or the job has ended', options);
  }
}
