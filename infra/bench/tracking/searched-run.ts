/** What every server has of the runs that are searched, so that all search the same. */
export const metricNames = ['accuracy', 'loss'] as const;
export const paramNames = ['lr', 'depth', 'seed'] as const;

/** Milliseconds. */
export const runTime = (index: number): number => 1_700_000_000_000 + index;
export const runValue = (index: number): number => Math.sin(index);
