import { createHash, createHmac } from 'node:crypto';

/** Signature Version 4 written a second time, for requests that the SDK would never send. */
export interface Signer {
  region: string;
  credentials: { accessKeyId: string; secretAccessKey: string };
}

export interface SignedRequest {
  headers: Record<string, string>;
  /** Signs chunk after chunk, beginning from the request's own signature. */
  chunk(data: Uint8Array): string;
  trailer(lines: string): string;
}

const emptySha256 = sha256('');

/** Signs a request whose path and query need no escaping. `unsigned` headers are sent but not signed. */
export function signRequest(
  signer: Signer,
  method: string,
  url: URL,
  given: Record<string, string>,
  options: { payload?: string; at?: Date; unsigned?: Record<string, string> } = {},
): SignedRequest {
  const { payload = 'UNSIGNED-PAYLOAD', at = new Date(), unsigned = {} } = options;
  const timestamp = at.toISOString().replace(/[-:]|\.\d+/g, '');
  const day = timestamp.slice(0, 8);
  const scope = `${day}/${signer.region}/s3/aws4_request`;
  const headers: Record<string, string> = {
    ...given,
    host: url.host,
    'x-amz-date': timestamp,
    'x-amz-content-sha256': payload,
  };
  const names = Object.keys(headers).sort();
  const query = [...url.searchParams]
    .map((pair) => pair.map(encodeURIComponent).join('='))
    .sort()
    .join('&');
  const canonical = [
    method,
    url.pathname,
    query,
    ...names.map((name) => `${name}:${headers[name]}`),
    '',
    names.join(';'),
    payload,
  ].join('\n');
  const key = [day, signer.region, 's3', 'aws4_request'].reduce<Buffer>(
    (secret, text) => hmac(secret, text),
    Buffer.from(`AWS4${signer.credentials.secretAccessKey}`),
  );
  const sign = (...lines: string[]) => hmac(key, lines.join('\n')).toString('hex');
  let previous = sign('AWS4-HMAC-SHA256', timestamp, scope, sha256(canonical));
  const authorization = `AWS4-HMAC-SHA256 Credential=${signer.credentials.accessKeyId}/${scope}, SignedHeaders=${names.join(';')}, Signature=${previous}`;
  return {
    headers: { ...headers, ...unsigned, authorization },
    chunk: (data) => {
      previous = sign('AWS4-HMAC-SHA256-PAYLOAD', timestamp, scope, previous, emptySha256, sha256(data));
      return previous;
    },
    trailer: (lines) => {
      previous = sign('AWS4-HMAC-SHA256-TRAILER', timestamp, scope, previous, sha256(lines));
      return previous;
    },
  };
}

function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
