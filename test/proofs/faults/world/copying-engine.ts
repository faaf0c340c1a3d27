import { appendFileSync } from 'node:fs';
import { chown, copyFile, mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OptimizationKind } from '../../../../shared/data/jobs/job.ts';
import { defineTask, taskHandler } from '../../../../shared/http/definition/task.ts';
import type { Optimization, Optimized } from '../../../../shared/onnx/engine/optimize/optimization.ts';
import {
  optimizationObjects,
  optimizationRecords,
} from '../../../../shared/runner/compression/compression-needs.ts';
import { runCompression } from '../../../../shared/runner/compression/run-compression.ts';
import { receiptOf } from '../../../integration/optimization/receipt.ts';

/** Leaves the model as it is, says that it ran, and takes its time. */
async function optimize({ model, folder, user, say, progress, signal }: Optimization): Promise<Optimized> {
  const { WITNESS = '', WORK_SECONDS = '0' } = process.env;
  appendFileSync(WITNESS, 'ran\n');
  say('ran');
  progress('transform', 0.5);
  await sleep(Number(WORK_SECONDS) * 1000, undefined, { signal });
  const [result, file] = [join(folder, 'result'), join(folder, 'result/model.onnx')];
  await mkdir(result);
  await copyFile(model, file);
  if (user !== undefined) for (const path of [result, file]) await chown(path, user.uid, user.gid);
  return { receipt: receiptOf((await stat(file)).size), files: ['model.onnx'] };
}

/** The program of a pruning's or quantization's container, whose engine only copies. */
export function copyingJob(environment: NodeJS.ProcessEnv): Promise<number> {
  const kind: OptimizationKind = environment['OPERATION'] === 'quantize' ? 'quantize' : 'prune';
  const task = defineTask({
    name: kind,
    needs: { records: optimizationRecords(kind), objects: optimizationObjects },
    run: (variables: NodeJS.ProcessEnv, context) =>
      runCompression(kind, variables, context, { optimize, stageProgram: '/nowhere' }),
  });
  return taskHandler(task)(environment);
}
