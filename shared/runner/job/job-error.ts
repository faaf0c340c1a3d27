/** Why a job cannot go on, in words for `status_reason`: something that whoever started it can act on. */
export class JobError extends Error {
  override readonly name = 'JobError';
}
