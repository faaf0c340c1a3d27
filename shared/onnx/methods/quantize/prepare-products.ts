import type { Model } from '../../model/file/model.ts';
import { Names } from '../../model/graph/graph.ts';
import type { QuantizeRequest } from '../../strategies/quantize-request.ts';
import type { CalibrationStatistics } from '../calibrate/statistics-file.ts';
import { type CorrectedForm, correctBiases } from './correct-biases.ts';
import { equalizeLayers } from './equalize-layers.ts';
import { smoothActivations } from './smooth-activations.ts';

/** Parameters of a request that change layers before quantization. */
export type PreparedRequest = Pick<
  QuantizeRequest,
  'equalize' | 'smooth_alpha' | 'bias_correction' | 'exclude'
>;

/**
 * Change layers to lose less in quantization, as far as the request asks for it: equalize across layers, smooth
 * activations, and correct biases for the coming quantization. Transposes must be folded before. Return notes.
 */
export function prepareProducts(
  { graph }: Model,
  { equalize, smooth_alpha, bias_correction, exclude }: PreparedRequest,
  form: Omit<CorrectedForm, 'exclude'>,
  statistics: CalibrationStatistics,
): string[] {
  const notes: string[] = [];
  const names = new Names(graph);
  if (equalize) {
    const pairs = equalizeLayers(graph, names, exclude);
    notes.push(
      `${pairs} pairs of layers were equalized${pairs === 0 ? ': no pair has only Relu in between' : ''}.`,
    );
  }
  const means = new Map([...statistics].map(([name, { mean }]) => [name, mean]));
  if (smooth_alpha !== null) {
    const { factors, nodes } = smoothActivations(graph, names, { alpha: smooth_alpha, exclude }, statistics);
    for (const [name, { of, by }] of factors) {
      const mean = means.get(of);
      if (mean !== undefined)
        means.set(
          name,
          mean.map((value, at) => value / (by[at] ?? 1)),
        );
    }
    notes.push(`${factors.size} activations were smoothed, ${nodes} of them by an additional Mul.`);
  }
  if (bias_correction) {
    const corrected = correctBiases(graph, names, { ...form, exclude }, (name) => means.get(name));
    notes.push(`${corrected} biases compensate for the mean error of their weights.`);
  }
  return notes;
}
