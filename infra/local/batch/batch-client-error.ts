/** The ClientException of AWS Batch: status 400 for an invalid request. */
export class BatchClientError extends Error {
  override readonly name = 'ClientException';
}
