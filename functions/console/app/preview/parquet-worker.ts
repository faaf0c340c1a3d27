import type { AsyncBuffer } from 'hyparquet';
import { readParquet } from './read-parquet.ts';

type ParquetTable = Awaited<ReturnType<typeof readParquet>>;
/** What the worker says: a part of the file that it needs, or how it has ended. */
type FromWorker = { start: number; end: number } | { table: ParquetTable } | { fault: string };
/** What the page answers: the size of the file at first, then each part. */
type ToWorker = { byteLength: number } | { part: ArrayBuffer };

/** Time to unpack 256 MB, several times over. */
const maxMilliseconds = 20_000;

// This file is both sides: the page loads it to start a worker from it, and the worker runs it.
if (typeof document === 'undefined') serveParts();

function serveParts(): void {
  const waiting: ((part: ArrayBuffer) => void)[] = [];
  const say = (message: FromWorker) => postMessage(message);
  globalThis.onmessage = ({ data }: MessageEvent<ToWorker>) => {
    if ('part' in data) return waiting.shift()?.(data.part);
    const { byteLength } = data;
    const slice = (start: number, end = byteLength) => {
      say({ start, end });
      return new Promise<ArrayBuffer>((resolve) => waiting.push(resolve));
    };
    readParquet({ byteLength, slice }).then(
      (table) => say({ table }),
      (error) => say({ fault: error instanceof Error ? error.message : String(error) }),
    );
  };
}

/**
 * Read the first rows of a Parquet file in a worker. A file may be made so that its values never end; the worker then does.
 * @throws Error with a sentence
 */
export async function parquetInWorker(file: AsyncBuffer): Promise<ParquetTable> {
  const worker = new Worker(import.meta.url, { type: 'module' });
  const { promise, resolve, reject } = Promise.withResolvers<ParquetTable>();
  const say = (message: ToWorker) =>
    worker.postMessage(message, 'part' in message ? { transfer: [message.part] } : {});
  // One part after the other, in the order in which they are wanted.
  let sent: Promise<unknown> = Promise.resolve();
  worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
    if ('table' in data) resolve(data.table);
    else if ('fault' in data) reject(new Error(data.fault));
    else {
      const part = Promise.resolve(file.slice(data.start, data.end));
      sent = Promise.all([part, sent]).then(([bytes]) => say({ part: bytes }), reject);
    }
  };
  worker.onerror = ({ message }) => reject(new Error(message || tooMuch));
  const timer = setTimeout(() => reject(new Error(tooMuch)), maxMilliseconds);
  say({ byteLength: file.byteLength });
  return promise.finally(() => {
    clearTimeout(timer);
    worker.terminate();
  });
}

const tooMuch = 'It takes too long to unpack. Download the file to read it.';
