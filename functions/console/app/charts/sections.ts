import type { JudgedBy } from '../../../../shared/metrics/criteria.ts';
import { inOrder, isCriterion } from '../runs/metric-order.ts';

/** Metrics that share a prefix. */
export interface Section {
  /** Prefix; empty for metrics without one. */
  name: string;
  metrics: string[];
}

/** Section of the metrics of the machine. */
export const machineSection = 'system';

/** Return the part of a metric's name before its first separator, for example `val` of `val/loss`. */
const prefixOf = (name: string): string => /^([^/.]+)[/.]./.exec(name)?.[1] ?? '';

/**
 * Sort metrics into sections by prefix. The section of the criterion comes first, then the sections in the order of
 * their first metrics. Sections of the system come last.
 */
export function sectionsOf(names: readonly string[], judge: JudgedBy | undefined): Section[] {
  const sections = new Map<string, string[]>();
  for (const name of inOrder(names, judge)) {
    const prefix = prefixOf(name);
    const list = sections.get(prefix);
    if (list === undefined) sections.set(prefix, [name]);
    else list.push(name);
  }
  const place = ([name, [first = '']]: [string, string[]]): number =>
    isCriterion(first, judge) ? 0 : name === machineSection ? 2 : 1;
  return [...sections].sort((a, b) => place(a) - place(b)).map(([name, metrics]) => ({ name, metrics }));
}
