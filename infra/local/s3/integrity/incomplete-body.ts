import { S3Error } from '../protocol/s3-error.ts';

/** The response to a body that ends early or is not framed as announced. */
export function incompleteBody(): S3Error {
  return new S3Error(
    'IncompleteBody',
    'The request body terminated unexpectedly or is not framed as its headers say.',
  );
}
