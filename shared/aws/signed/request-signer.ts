import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';

/**
 * Return the signer of requests to a service of AWS that are sent without a client of the SDK, which would enlarge every
 * bundle.
 */
export const requestSigner = (
  service: string,
  region: string,
  credentials: ConstructorParameters<typeof SignatureV4>[0]['credentials'],
): SignatureV4 => new SignatureV4({ service, region, sha256: Sha256, credentials });

/** SHA-256 in the form that the signer takes. */
class Sha256 {
  readonly #hash: Hash | Hmac;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash =
      secret === undefined ? createHash('sha256') : createHmac('sha256', secret as string | Uint8Array);
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(data as string | Uint8Array);
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset(): void {}
}
