/** What AWS Batch answers with status 400 to a request that asks for something wrong. */
export class ClientException extends Error {
  override readonly name = 'ClientException';
}
