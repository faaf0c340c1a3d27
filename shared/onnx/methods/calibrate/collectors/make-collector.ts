import type { CalibratedStrategy } from '../../../strategies/quantize-strategies.ts';
import type { Collector } from './collector.ts';
import { EntropyCollector } from './entropy-collector.ts';
import { MinMaxCollector } from './minmax-collector.ts';
import { MseCollector } from './mse-collector.ts';
import { PercentileCollector } from './percentile-collector.ts';

const collectors: Readonly<Record<CalibratedStrategy, new () => Collector>> = {
  static_minmax: MinMaxCollector,
  static_percentile: PercentileCollector,
  static_entropy: EntropyCollector,
  static_mse: MseCollector,
};

/** Create the collector that observes ranges of activations for a strategy. */
export const makeCollector = (strategy: CalibratedStrategy): Collector => new collectors[strategy]();
