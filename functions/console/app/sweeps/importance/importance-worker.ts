import { type ForestRows, type Importance, permutationImportance } from './random-forest.ts';

// This file is both sides: the page loads it to start a worker from it, and the worker runs it.
if (typeof document === 'undefined')
  globalThis.onmessage = ({ data }: MessageEvent<ForestRows>) => postMessage(permutationImportance(data));

/** Compute importance in a worker, so that the page stays usable. The signal ends the worker. */
export function importanceInWorker(rows: ForestRows, signal: AbortSignal): Promise<Importance> {
  const worker = new Worker(import.meta.url, { type: 'module' });
  const { promise, resolve, reject } = Promise.withResolvers<Importance>();
  worker.onmessage = ({ data }: MessageEvent<Importance>) => resolve(data);
  worker.onerror = ({ message }) => reject(new Error(message));
  signal.addEventListener('abort', () => reject(signal.reason));
  worker.postMessage(rows);
  return promise.finally(() => worker.terminate());
}
