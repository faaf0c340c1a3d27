/** How thoroughly a result is measured. */
export const measures = ['none', 'quick', 'full'] as const;
export type Measure = (typeof measures)[number];
