import { ProblemError } from './problem-error.ts';
import { wait } from './retry.ts';
import { UnreachableError } from './unreachable-error.ts';

/** Where to send a file, as the service answers it. */
export interface UploadTarget {
  url: string;
  method: string;
  headers: Readonly<Record<string, string>>;
}

/** Sends a file to its target and returns the status and the text of the answer. */
export type SendFile = (target: UploadTarget) => Promise<{ status: number; text: string }>;

const maxAttempts = 5;

/**
 * Send a file to storage. What fails is repeated with a fresh target, because signatures expire; storage takes the same
 * bytes twice.
 *
 * @throws ProblemError when storage refuses the file
 * @throws UnreachableError when storage cannot be reached
 */
export async function sendUpload(
  target: () => Promise<UploadTarget>,
  send: SendFile,
  signal?: AbortSignal,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const to = await target();
    let failure: Error;
    try {
      const { status, text } = await send(to);
      if (status < 300) return;
      failure = new ProblemError(status, {}, `Storage refused the file: ${status} ${text.slice(0, 300)}`);
      // Whatever else storage says of these bytes, it will say again.
      if (status < 500 && status !== 403 && status !== 408 && status !== 429) throw failure;
    } catch (error) {
      if (signal?.aborted === true || error instanceof ProblemError) throw error;
      failure = new UnreachableError(new URL(to.url).origin, error);
    }
    if (attempt === maxAttempts) throw failure;
    await wait(250 * 2 ** attempt, signal);
  }
}

/** Sends bytes that are in memory, or a file that a person chose in a browser. */
export const sendBlob =
  (blob: Blob, signal?: AbortSignal): SendFile =>
  async ({ url, method, headers }) => {
    const response = await fetch(url, {
      method,
      headers,
      body: blob,
      ...(signal !== undefined && { signal }),
    });
    return { status: response.status, text: await response.text() };
  };
