import { optimizeModel } from '../../shared/onnx/optimize/optimize-model.ts';
import { stageProgramOf } from '../../shared/runner/optimize/stage-program.ts';
import { optimizationObjects, optimizationRecords } from '../../shared/runner/optimize/strategy-needs.ts';
import { runStrategyProgram } from '../../shared/runner/optimize/strategy-program.ts';
import { defineTask, taskHandler } from '../../shared/task/task.ts';

/** The program of a pruning's container. */
export const job = defineTask({
  name: 'prune',
  needs: { records: optimizationRecords('prune'), objects: optimizationObjects },

  run(variables: Readonly<Record<string, string | undefined>>, context): Promise<number> {
    const stageProgram = stageProgramOf(import.meta.dirname, import.meta.filename);
    return runStrategyProgram('prune', variables, context, { optimize: optimizeModel, stageProgram });
  },
});

export const handler = taskHandler(job);
