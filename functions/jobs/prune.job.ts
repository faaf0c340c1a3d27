import { defineTask, taskHandler } from '../../shared/http/definition/task.ts';
import { optimizeModel } from '../../shared/onnx/engine/optimize/optimize-model.ts';
import { stageProgramOf } from '../../shared/runner/strategy/strategy-job.ts';
import { optimizationObjects, optimizationRecords } from '../../shared/runner/strategy/strategy-needs.ts';
import { runStrategyProgram } from '../../shared/runner/strategy/strategy-program.ts';

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
