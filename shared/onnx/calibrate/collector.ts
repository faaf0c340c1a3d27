import type { QuantizeStrategy } from '../methods/strategies.ts';
import { EntropyCollector } from './entropy-collector.ts';
import { MinMaxCollector } from './minmax-collector.ts';
import { PercentileCollector } from './percentile-collector.ts';
import type { CalibrationRanges } from './ranges.ts';

/** Finds the ranges of activations from their values, sample after sample. Its memory does not grow with the samples. */
export interface Collector {
  /** Takes the values of an activation for one sample. They are not kept. */
  add(name: string, values: Float32Array): void;
  /** The range of every activation that had a number. */
  ranges(): CalibrationRanges;
}

export type StaticStrategy = Extract<QuantizeStrategy, `static_${string}`>;

/** The collector of a static strategy. */
export function makeCollector(strategy: StaticStrategy): Collector {
  switch (strategy) {
    case 'static_minmax':
      return new MinMaxCollector();
    case 'static_percentile':
      return new PercentileCollector();
    case 'static_entropy':
      return new EntropyCollector();
  }
}
