import { calibrationTargets } from '../../../shared/onnx/methods/apply/calibration-targets.ts';
import { makeCollector } from '../../../shared/onnx/methods/calibrate/collectors/make-collector.ts';
import { exposeOutputs } from '../../../shared/onnx/methods/calibrate/expose-outputs.ts';
import type { CalibrationRanges } from '../../../shared/onnx/methods/calibrate/ranges.ts';
import { prepareStatic } from '../../../shared/onnx/methods/quantize/static/quantize-static.ts';
import type { StaticRequest } from '../../../shared/onnx/methods/quantize/static/static-operators.ts';
import type { Model } from '../../../shared/onnx/model/file/model.ts';
import type { CalibratedStrategy } from '../../../shared/onnx/strategies/quantize-strategies.ts';
import type { Floats } from './run-optimized.ts';
import { runSmall } from './small-model.ts';

/** The ranges that a request needs, measured on samples. */
export async function calibrated(
  model: Model,
  request: StaticRequest,
  samples: readonly Record<string, Floats>[],
  strategy: CalibratedStrategy = 'static_minmax',
): Promise<CalibrationRanges> {
  prepareStatic(model, request);
  const targets = calibrationTargets(model, request);
  exposeOutputs(
    model,
    targets.map((name) => ({ name })),
  );
  const collector = makeCollector(strategy);
  for (const sample of samples) {
    const values = { ...(await runSmall(model, sample)), ...sample };
    for (const name of targets) collector.add(name, values[name]?.data ?? new Float32Array());
  }
  return collector.ranges();
}
