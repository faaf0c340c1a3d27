// A job's program with the real engine, whose stages are spies.
import { fileURLToPath } from 'node:url';
import { optimizeModel } from '../../../shared/onnx/optimize/optimize-model.ts';
import { optimizationObjects, optimizationRecords } from '../../../shared/runner/optimize/strategy-needs.ts';
import { runStrategyProgram } from '../../../shared/runner/optimize/strategy-program.ts';
import { defineTask, taskHandler } from '../../../shared/task/task.ts';

const stageProgram = fileURLToPath(import.meta.resolve('./spying-stage.ts'));

export const handler = taskHandler(
  defineTask({
    name: 'quantize',
    needs: { records: optimizationRecords('quantize'), objects: optimizationObjects },
    run: (variables: NodeJS.ProcessEnv, context) =>
      runStrategyProgram('quantize', variables, context, { optimize: optimizeModel, stageProgram }),
  }),
);
