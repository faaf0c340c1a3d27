import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Model } from '../../../../shared/onnx/model/file/model.ts';
import { saveModel } from '../../../../shared/onnx/model/file/save-model.ts';
import { type Figure, type FigureOptions, figure } from '../../bench/figure.ts';
import { runPython } from '../compare/run-python.ts';
import type { Cell } from './cells.ts';
import { isGated, type Made, type Workbench } from './workbench.ts';

const mb = 1e6;

/** Speed-ups vary with the processor's cache and clock: this share of the prototype's has to be reached. */
const minShare = 0.75;
/** That of our result beside the reference's, as in `compare/bounds.ts`. */
const maxLatency = 1.05;
/** What a result may have beyond the prototype's bytes. */
const sizeMargin = 1.02;

/** Bytes that a transformation may have in memory at most, beside the file of a model without external data. */
export const transformBytes = (largestTensor: number, inlineFile: number): number =>
  3 * largestTensor + 300 * mb + inlineFile;

const gated = (options: FigureOptions): FigureOptions => {
  if (isGated()) return options;
  return options.remark === undefined ? {} : { remark: options.remark };
};

function resourceFigures({ what: name, maxSeconds }: Cell, made: readonly Made[], most: number): Figure[] {
  const seconds = made.reduce(
    (sum, { transform, calibrate }) => sum + transform.seconds + (calibrate?.seconds ?? 0),
    0,
  );
  const peak = Math.max(...made.map(({ transform }) => transform.peakMemoryBytes));
  return [
    figure(`${name}: time`, seconds, 's', gated(maxSeconds === undefined ? {} : { atMost: maxSeconds })),
    figure(`${name}: peak of transforming`, peak / mb, 'MB', { atMost: most / mb }),
  ];
}

/** A result's latency beside that of what ONNX Runtime's own quantizer makes of the same model, on this machine. */
async function referenceFigures(
  bench: Workbench,
  { what, reference }: Cell,
  source: string,
  result: string,
): Promise<Figure[]> {
  if (reference === undefined || bench.python === undefined) return [];
  const out = join(bench.folder(), 'model.onnx');
  await runPython(bench.python, 'reference.py', { method: reference, model: source, out });
  const { ratio, ratio_interval, p50 } = await bench.time(out, result);
  const remark = `lower end of 95 %, median ${ratio.toFixed(3)}; ${p50.before.toFixed(2)} → ${p50.after.toFixed(2)} ms`;
  const name = `${what}: latency beside ONNX Runtime's own result`;
  return [figure(name, ratio_interval[0], '×', gated({ remark, atMost: maxLatency }))];
}

/** Measures the cells of an architecture: speed-up with its A/A ratio, size, and what transforming took. */
export async function measureArchitecture(
  bench: Workbench,
  model: Model,
  cells: readonly Cell[],
): Promise<Figure[]> {
  const largest = Math.max(...[...model.graph.initializers.values()].map(({ byteLength }) => byteLength));
  const folder = bench.folder();
  const [file = ''] = saveModel(model, folder);
  const source = join(folder, file);
  const { size } = statSync(source);
  const figures: Figure[] = [figure('the model', size / mb, 'MB')];
  for (const cell of cells) {
    const { what, requests, speedUp, megabytes } = cell;
    const made: Made[] = [];
    let path = source;
    for (const request of requests) {
      const next = await bench.make(path, request);
      made.push(next);
      path = next.path;
    }
    const time = await bench.time(source, path);
    const [slow, fast] = time.ratio_interval.map((ratio) => 1 / ratio);
    const remark = `${time.p50.before.toFixed(2)} → ${time.p50.after.toFixed(2)} ms, ${fast?.toFixed(2)} to ${slow?.toFixed(2)}, A/A ${time.aa_ratio.toFixed(3)}`;
    const least = speedUp === undefined ? {} : { atLeast: speedUp * minShare };
    figures.push(figure(`${what}: speed-up`, 1 / time.ratio, '×', gated({ remark, ...least })));
    figures.push(...(await referenceFigures(bench, cell, source, path)));
    const atMost = megabytes === undefined ? {} : { atMost: megabytes * sizeMargin };
    figures.push(figure(`${what}: size`, statSync(path).size / mb, 'MB', atMost));
    figures.push(...resourceFigures(cell, made, transformBytes(largest, size)));
  }
  return figures;
}
