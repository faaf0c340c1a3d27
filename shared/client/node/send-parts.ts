import { inLanes } from '../../core/in-lanes.ts';
import { ProblemError } from '../problem-error.ts';
import { wait } from '../retry.ts';
import { sendUpload, type UploadTarget } from '../send-upload.ts';
import { UnreachableError } from '../unreachable-error.ts';
import { sendFile } from './send-file.ts';

/** A part of a file, with the URL that accepts it. */
export interface PartTarget extends UploadTarget {
  /** Counts from 1. */
  part_number: number;
  /** First byte of the part in the file. */
  offset: number;
  size: number;
}

export interface PartedUpload {
  path: string;
  /** Size of the file in bytes. */
  size: number;
  /** Called with the number of bytes that storage has. */
  onProgress?(bytes: number): void;
  signal?: AbortSignal;
}

const atOnce = 3;
/** Maximum number of requests in a row for fresh URLs without a part arriving. */
const maxFruitless = 5;

/**
 * Send the missing parts of a file, several at a time. `missing` asks the service each time, with fresh URLs, so
 * parts from an earlier process are not sent again.
 *
 * @param missing the parts that have not arrived; empty or null if nothing is to be sent
 * @throws ProblemError if storage refuses a part
 * @throws UnreachableError if storage cannot be reached
 */
export async function sendParts(
  missing: () => Promise<readonly PartTarget[] | null>,
  { path, size, onProgress, signal }: PartedUpload,
): Promise<void> {
  let fruitless = 0;
  for (let waiting = (await missing()) ?? []; waiting.length > 0; ) {
    let arrived = size - waiting.reduce((sum, part) => sum + part.size, 0);
    onProgress?.(arrived);
    const failures: unknown[] = [];
    await inLanes(waiting, atOnce, async ({ offset: start, size: bytes, url, method, headers }) => {
      // The others are not begun after a failure.
      if (failures.length > 0) return;
      const sending = { path, start, size: bytes, ...(signal && { signal }) };
      try {
        await sendUpload(async () => ({ url, method, headers }), sendFile(sending), signal);
        arrived += bytes;
        onProgress?.(arrived);
      } catch (error) {
        failures.push(error);
      }
    });
    const [failure] = failures;
    if (signal?.aborted === true) throw signal.reason;
    const isLasting =
      failure !== undefined &&
      !(failure instanceof UnreachableError) &&
      !(failure instanceof ProblemError && failure.status === 403);
    if (isLasting) throw failure;
    const left = (await missing()) ?? [];
    fruitless = left.length < waiting.length ? 0 : fruitless + 1;
    if (left.length > 0 && fruitless === maxFruitless)
      throw failure ?? new Error(`${path} could not be sent`);
    if (fruitless > 0) await wait(250 * 2 ** fruitless, signal);
    waiting = left;
  }
}
