// A job's program with the real engine, whose stages are spies.
import { fileURLToPath } from 'node:url';
import { defineTask, taskHandler } from '../../../shared/http/definition/task.ts';
import { optimizeModel } from '../../../shared/onnx/engine/optimize/optimize-model.ts';
import {
  optimizationObjects,
  optimizationRecords,
} from '../../../shared/runner/compression/compression-needs.ts';
import { runCompression } from '../../../shared/runner/compression/run-compression.ts';

const stageProgram = fileURLToPath(import.meta.resolve('./spying-stage.ts'));

export const handler = taskHandler(
  defineTask({
    name: 'quantize',
    needs: { records: optimizationRecords('quantize'), objects: optimizationObjects },
    run: (variables: NodeJS.ProcessEnv, context) =>
      runCompression('quantize', variables, context, { optimize: optimizeModel, stageProgram }),
  }),
);
