import { lastText } from '../output/metric-text.ts';
import type { Experiment } from './follow-experiment.ts';

/** A value of experiments that a list was filtered or ordered by. */
export interface AskedValue {
  heading: string;
  textOf(experiment: Experiment): string;
}

const named = /\b(metrics?|params?|parameters?|tags?)\.(?:`([^`]+)`|"([^"]+)"|([\w./-]+))/gi;

/** The metrics, params and tags that a filter or an order names, each once, in their order. */
export function askedValues(...texts: readonly string[]): AskedValue[] {
  const found = new Map<string, AskedValue>();
  for (const [, group = '', ...names] of texts.flatMap((text) => [...text.matchAll(named)])) {
    const name = names.find((one) => one !== undefined) ?? '';
    const kind = group.toLowerCase().slice(0, 1);
    const textOf = (experiment: Experiment): string => {
      if (kind === 'm') return lastText(experiment, name);
      const values = kind === 'p' ? experiment.params : experiment.tags;
      return Object.hasOwn(values, name) ? (values[name] ?? '') : '';
    };
    found.set(`${kind} ${name}`, { heading: name, textOf });
  }
  return [...found.values()];
}
