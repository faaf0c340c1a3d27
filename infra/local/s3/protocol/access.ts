import type { Statement } from '../../../service/iam-statements.ts';
import { bucketArn, isAllowed } from '../../access/is-allowed.ts';
import { S3Error } from './s3-error.ts';

/** Authorize a request by the statements of its role. The owner may do everything. */
export class Access {
  readonly #role: readonly Statement[] | undefined;

  constructor(role: readonly Statement[] | undefined) {
    this.#role = role;
  }

  /** Return the error for an action on an object, or undefined if it is allowed. */
  refusal(action: string, { bucket, key }: Address): S3Error | undefined {
    return this.#refusal(action, `${bucketArn(bucket)}/${key}`);
  }

  /** @throws S3Error AccessDenied */
  requireObject(action: string, address: Address): void {
    const refusal = this.refusal(action, address);
    if (refusal !== undefined) throw refusal;
  }

  /** @throws S3Error AccessDenied */
  requireBucket(action: string, bucket: string, prefix: string | undefined): void {
    const refusal = this.#refusal(action, bucketArn(bucket), prefix);
    if (refusal !== undefined) throw refusal;
  }

  /** Return the error for a missing object: AccessDenied for callers who may not list the bucket. */
  ofMissing(error: unknown, bucket: string): unknown {
    if (!(error instanceof S3Error) || error.code !== 'NoSuchKey') return error;
    return this.#refusal('s3:ListBucket', bucketArn(bucket)) ?? error;
  }

  #refusal(action: string, resource: string, prefix?: string): S3Error | undefined {
    const context = prefix === undefined ? {} : { 's3:prefix': prefix };
    if (this.#role === undefined || isAllowed(this.#role, { action, resource, context })) return undefined;
    const why = 'because no identity-based policy allows the action';
    return new S3Error(
      'AccessDenied',
      `not authorized to perform: ${action} on resource: ${resource} ${why}`,
    );
  }
}

interface Address {
  bucket: string;
  key: string;
}
