import { killTree } from '../../../shared/process/process-tree.ts';

/** npm hands on the Ctrl-C that the terminal has sent to everybody already: what follows so closely is the same one. */
const sameRequestMilliseconds = 500;

/** Resolves at the first Ctrl-C, SIGTERM or hang-up; at the next the process ends at once, with all it started. */
export function stopRequested(): Promise<void> {
  return new Promise((resolve) => {
    let first: number | undefined;
    const request = () => {
      first ??= performance.now();
      resolve();
      if (performance.now() - first < sameRequestMilliseconds) return;
      void killTree({ root: process.pid }).finally(() => process.exit(130));
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, request);
  });
}
