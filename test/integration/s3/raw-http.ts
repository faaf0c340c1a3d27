import { request } from 'node:http';

export interface RawAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
  /** The S3 error code in the body, or ''. */
  code: string;
  /** Whether the server asked for the body of a request that waited with it. */
  continued: boolean;
}

/** Sends exactly these bytes under exactly these headers, without any client's own ideas. */
export function rawHttp(
  method: string,
  url: string | URL,
  headers: Record<string, string | string[]>,
  body: string | Uint8Array = '',
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    let continued = false;
    const outgoing = request(url, { method, headers, agent: false }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', reject);
      incoming.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const code = /<Code>(\w+)<\/Code>/.exec(text)?.[1] ?? '';
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: text, code, continued });
        outgoing.destroy();
      });
    });
    outgoing.on('error', reject);
    outgoing.on('continue', () => {
      continued = true;
      outgoing.end(body);
    });
    if (headers['expect'] === undefined) outgoing.end(body);
    else outgoing.flushHeaders();
  });
}
