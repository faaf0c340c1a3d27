import { killTree } from '../../../shared/runner/process-tree.ts';

/** Resolves at the first Ctrl-C, SIGTERM or hang-up; at the second the process ends at once, with all it started. */
export function stopRequested(): Promise<void> {
  return new Promise((resolve) => {
    let requests = 0;
    const request = () => {
      requests += 1;
      resolve();
      if (requests === 2) void killTree({ root: process.pid }).finally(() => process.exit(130));
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, request);
  });
}
