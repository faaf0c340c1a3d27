import { type Curvature, curvatureOf, largestFirst } from '../../calibrate/curvature.ts';
import type { CalibrationStatistics } from '../../calibrate/input-statistics.ts';
import type { TransformReport } from '../../report/report.ts';
import type { BlockMethod } from './block-weight.ts';
import type { BlockUse } from './find-block-weights.ts';
import { gptqLevels } from './gptq.ts';
import { leastErrorLevels } from './least-error-blocks.ts';
import { packBlocks } from './pack-blocks.ts';

/** The curvature of one input at a time: queries, keys and values share theirs. */
class Curvatures {
  readonly #statistics: CalibrationStatistics;
  #input = '';
  #curvature: Curvature | undefined;

  constructor(statistics: CalibrationStatistics) {
    this.#statistics = statistics;
  }

  of(input: string): Curvature | undefined {
    if (input !== this.#input) {
      this.#input = input;
      const observed = this.#statistics.get(input);
      const moment = observed?.moment();
      this.#curvature = observed && moment && curvatureOf(moment, observed.channels, largestFirst);
    }
    return this.#curvature;
  }
}

/**
 * GPTQ for the weights whose inputs were observed. Tables have no inputs, and go the way that needs no data; so does a
 * product whose input no sample reached.
 */
export const gptqMethod =
  (statistics: CalibrationStatistics, report: TransformReport) =>
  (uses: readonly BlockUse[]): BlockMethod => {
    const inputs = new Map<string, string>();
    const tables = new Set(
      uses.filter(({ kind }) => kind === 'table').map(({ weight }) => weight.tensor.name),
    );
    const curvatures = new Curvatures(statistics);
    for (const { kind, node, weight } of uses) {
      const name = node.input[0] ?? '';
      if (kind === 'product' && statistics.has(name)) inputs.set(weight.tensor.name, name);
    }
    return (matrix, format, weight) => {
      const { bits, symmetric } = format;
      const input = inputs.get(weight.tensor.name) ?? '';
      const curvature = curvatures.of(input);
      if (curvature !== undefined)
        return packBlocks(matrix, gptqLevels(matrix, curvature, bits, symmetric), bits, symmetric);
      if (!tables.has(weight.tensor.name)) {
        report.notes.push(
          `${weight.tensor.name} is quantized as weight_only_mse does: its inputs were not observed, were always zero, or are too wide.`,
        );
      }
      return leastErrorLevels(matrix, format, weight);
    };
  };
