import type { CalibrationStatistics } from '../../calibrate/statistics-file.ts';
import type { BlockMemory } from './block-memory.ts';
import { type BlockMethod, type BlockUse, observedInputs } from './block-weight.ts';
import { channelSizes } from './input-factors.ts';
import { weightedLevels } from './levels-by-block.ts';

/**
 * The levels of scaled weights: each block has the scale of least squared error, weighted by the squared size of the
 * inputs. Weights without observed inputs count all errors alike.
 */
export const awqMethod =
  (statistics: CalibrationStatistics, memory: BlockMemory) =>
  (uses: readonly BlockUse[]): BlockMethod => {
    const inputs = observedInputs(uses, statistics);
    return (matrix, format, weight) => {
      const observed = statistics.get(inputs.get(weight.tensor.name) ?? '');
      return memory.blocks('awq', matrix, format, observed, () => {
        const moment = observed?.moment();
        const sizes = observed && moment && channelSizes(moment, observed.channels);
        return weightedLevels(
          matrix,
          format,
          sizes?.map((size) => size * size),
        );
      });
    };
  };
