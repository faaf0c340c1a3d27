import type { QuantizeStrategy } from '../methods/strategies.ts';
import type { Collector } from './collector.ts';
import { EntropyCollector } from './entropy-collector.ts';
import { MinMaxCollector } from './minmax-collector.ts';
import { PercentileCollector } from './percentile-collector.ts';

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
