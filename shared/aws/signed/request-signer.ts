import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';

/**
 * Return the signer of POST requests to a service of AWS that are sent without a client of the SDK, which would enlarge every
 * bundle.
 */
export function requestSigner(
  service: string,
  region: string,
  credentials: ConstructorParameters<typeof SignatureV4>[0]['credentials'],
) {
  const signer = new SignatureV4({ service, region, sha256: Sha256, credentials });
  return async (url: URL, own: Readonly<Record<string, string>>, body: string): Promise<SignedPost> => {
    const { headers } = await signer.sign({
      method: 'POST',
      protocol: url.protocol,
      hostname: url.hostname,
      path: url.pathname,
      query: {},
      headers: { host: url.host, ...own },
      body,
    });
    return { url: url.href, headers, body };
  };
}

/** A POST request with its signature. */
export interface SignedPost {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** Send a signed request once. @throws if no answer comes within some milliseconds */
export function sendSigned({ url, headers, body }: SignedPost, patience: number): Promise<Response> {
  const { host: _, ...sent } = headers;
  return fetch(url, { method: 'POST', headers: sent, body, signal: AbortSignal.timeout(patience) });
}

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
