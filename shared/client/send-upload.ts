import { ProblemError } from './problem-error.ts';
import { wait } from './retry.ts';
import { UnreachableError } from './unreachable-error.ts';

/** Presigned URL for an upload, from the service. */
export interface UploadTarget {
  url: string;
  method: string;
  headers: Readonly<Record<string, string>>;
}

/** Send a file to its target. Return the status and the text of the answer. */
export type SendFile = (target: UploadTarget) => Promise<{ status: number; text: string }>;

const maxAttempts = 5;

/**
 * Send a file to storage. Retry a failure with a fresh target, because signatures expire. Storage accepts the same
 * bytes twice.
 *
 * @throws ProblemError if storage refuses the file
 * @throws UnreachableError if storage cannot be reached
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
      // Storage would answer any other status again for the same bytes, so do not retry.
      if (status < 500 && status !== 403 && status !== 408 && status !== 429) throw failure;
    } catch (error) {
      if (signal?.aborted === true || error instanceof ProblemError) throw error;
      failure = new UnreachableError(new URL(to.url).origin, error);
    }
    if (attempt === maxAttempts) throw failure;
    await wait(250 * 2 ** attempt, signal);
  }
}
