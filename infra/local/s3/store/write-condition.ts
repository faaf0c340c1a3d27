import { S3Error } from '../protocol/s3-error.ts';

/** The condition of a write on the present object. */
export interface WriteCondition {
  /** An ETag without quotes, or `*` for any. */
  ifMatch?: string | undefined;
  /** The object must not exist. */
  ifNoneMatch?: boolean | undefined;
}

/** @throws S3Error NoSuchKey, PreconditionFailed */
export function requireCondition(condition: WriteCondition, etag: string | undefined): void {
  if (condition.ifNoneMatch === true && etag !== undefined) throw preconditionFailed('If-None-Match');
  if (condition.ifMatch === undefined) return;
  if (etag === undefined) throw new S3Error('NoSuchKey', 'The specified key does not exist.');
  if (condition.ifMatch !== '*' && condition.ifMatch !== etag) throw preconditionFailed('If-Match');
}

/** The answer when a condition does not hold. */
export function preconditionFailed(condition: string): S3Error {
  return new S3Error('PreconditionFailed', 'At least one of the pre-conditions you specified did not hold', {
    Condition: condition,
  });
}
