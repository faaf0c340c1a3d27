import { defineTask, taskHandler } from '../../shared/http/definition/task.ts';
import { optimizeModel } from '../../shared/onnx/engine/optimize/optimize-model.ts';
import { stageProgramOf } from '../../shared/runner/compression/compression-job.ts';
import { optimizationNeeds } from '../../shared/runner/compression/compression-needs.ts';
import { runCompression } from '../../shared/runner/compression/run-compression.ts';

/** The program of a quantization's container. */
export const job = defineTask({
  name: 'quantize',
  needs: optimizationNeeds('quantize'),

  run(variables: Readonly<Record<string, string | undefined>>, context): Promise<number> {
    const stageProgram = stageProgramOf(import.meta.dirname, import.meta.filename);
    return runCompression('quantize', variables, context, { optimize: optimizeModel, stageProgram });
  },
});

export const handler = taskHandler(job);
