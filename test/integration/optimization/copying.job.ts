// A job's program whose engine copies the model in a child process, or does what the request names in `exclude`.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { OptimizationKind } from '../../../shared/data/jobs/job.ts';
import { defineTask, taskHandler } from '../../../shared/http/definition/task.ts';
import type { Optimization, Optimized } from '../../../shared/onnx/engine/optimize/optimization.ts';
import { ModelError } from '../../../shared/onnx/model/model-error.ts';
import {
  optimizationObjects,
  optimizationRecords,
} from '../../../shared/runner/compression/compression-needs.ts';
import { runCompression } from '../../../shared/runner/compression/run-compression.ts';
import { receiptOf } from './receipt.ts';

type Behaviour = (optimization: Optimization) => Promise<void>;

/** Starts a program in the place of a stage's. */
function start({ user, folder, stageCommand }: Optimization, ...program: string[]): ChildProcess {
  const [file = '', ...args] = [...stageCommand.slice(0, -2), ...program];
  return spawn(file, args, { cwd: folder, env: {}, stdio: 'ignore', detached: true, ...user });
}

async function run(optimization: Optimization, ...program: string[]): Promise<void> {
  const child = start(optimization, ...program);
  const end = () => child.kill('SIGKILL');
  optimization.signal.addEventListener('abort', end);
  if (optimization.signal.aborted) end();
  await once(child, 'exit');
  optimization.signal.throwIfAborted();
}

const copy: Behaviour = async (optimization) => {
  await run(optimization, '/bin/mkdir', 'result');
  await run(optimization, '/bin/cp', optimization.model, 'result/model.onnx');
};

const behaviours: Readonly<Record<string, Behaviour>> = {
  async wait(optimization) {
    optimization.say('waiting');
    await run(optimization, '/bin/sleep', String(optimization.request.seed + 600));
  },
  async fault() {
    throw new ModelError('The model has no weights that can be pruned.');
  },
  async error() {
    throw new TypeError('a secret of the service');
  },
  async link(optimization) {
    await run(optimization, '/bin/mkdir', 'result');
    await run(optimization, '/bin/ln', '-s', '/etc/passwd', 'result/model.onnx');
  },
  async half(optimization) {
    await copy(optimization);
    await run(optimization, '/bin/ln', '-s', '/etc/passwd', 'result/weights.bin');
  },
  async leave(optimization) {
    await copy(optimization);
    start(optimization, '/bin/sleep', String(optimization.request.seed));
  },
  async slow(optimization) {
    optimization.say('ran');
    await run(optimization, '/bin/sleep', '1');
    await copy(optimization);
  },
};

async function optimize(optimization: Optimization): Promise<Optimized> {
  const { request, model, shapes } = optimization;
  optimization.progress('transform', 0.5);
  optimization.say(`shapes ${JSON.stringify([...(shapes ?? [])])}`);
  await (behaviours[request.exclude[0] ?? ''] ?? copy)(optimization);
  const { size } = await stat(join(optimization.folder, 'result/model.onnx')).catch(() => ({ size: 0 }));
  optimization.say(`copied ${model.split('/').at(-1)}`);
  const behaviour = request.exclude[0];
  const receipt = receiptOf(size);
  // Beyond what is kept of one.
  if (behaviour === 'verbose') receipt.notes = ['x'.repeat(5_000_000)];
  return { receipt, files: behaviour === 'half' ? ['model.onnx', 'weights.bin'] : ['model.onnx'] };
}

const programOf = (kind: OptimizationKind) =>
  taskHandler(
    defineTask({
      name: kind,
      needs: { records: optimizationRecords(kind), objects: optimizationObjects },
      run: (variables: NodeJS.ProcessEnv, context) =>
        runCompression(kind, variables, context, { optimize, stageProgram: '/nowhere' }),
    }),
  );

export const handler = (variables: NodeJS.ProcessEnv): Promise<number> =>
  programOf(variables['OPERATION'] === 'quantize' ? 'quantize' : 'prune')(variables);
