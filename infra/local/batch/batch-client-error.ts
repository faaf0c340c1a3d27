/** What AWS Batch answers with status 400 to a request that asks for something wrong. */
export class BatchClientError extends Error {
  override readonly name = 'ClientException';
}
