import type { Subset } from './metric-panels.ts';

/** Line colours. They have a contrast of at least 4.5 to 1 with the panel and suit colour-blind readers. */
export const lineColours: Readonly<Record<Subset, string>> = {
  '': '#0b63b0',
  train: '#7a3fb8',
  val: '#b8500c',
  test: '#17704a',
};
