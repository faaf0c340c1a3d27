import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isFeedType } from '../../measure/session/feed-type.ts';
import {
  type GraphOptimization,
  runtimeVersion,
  Session,
  type SessionOf,
} from '../../measure/session/session.ts';
import type { StageAnswer } from '../../measure/session/stage-answers.ts';
import type { FedInput, TaskOf } from '../../measure/session/stage-task.ts';
import { syntheticFeeds } from '../../measure/session/synthetic.ts';
import { sliceLayer } from '../../measure/verify/layer-slice.ts';
import { observedInputs } from '../../measure/verify/observed-inputs.ts';
import { OutputDifference } from '../../measure/verify/output-error.ts';
import { loadModel } from '../../model/file/load-model.ts';
import type { Model } from '../../model/file/model.ts';
import { saveModel } from '../../model/file/save-model.ts';
import { nodeName } from '../../model/graph/graph.ts';
import { inferValues } from '../../model/infer/infer-values.ts';
import type { StageReporter } from '../process/stage-reporter.ts';

const maxChecked = 8;

type Checked = StageAnswer<'check'>['layers'][number];

/** Choose layers evenly from first to last. */
function sampled(layers: readonly string[]): string[] {
  const all = [...new Set(layers)];
  const step = Math.max(1, (all.length - 1) / (maxChecked - 1));
  return [
    ...new Set(
      all.filter((_, index) => index < maxChecked).map((_, index) => all[Math.round(index * step)] ?? ''),
    ),
  ];
}

/** Run one layer of a model separately. */
async function runLayer(
  model: Model,
  of: SessionOf,
  inputs: readonly FedInput[],
  output: string,
  { seed, work, level }: TaskOf<'check'> & { level: GraphOptimization },
) {
  const places = inputs.map(({ name, type, dims }) => {
    if (!isFeedType(type)) throw new Error(`a layer is fed with ${type}`);
    return { name, type, dims: dims ?? [] };
  });
  const slice = sliceLayer(model, places, output);
  if (slice === undefined) return undefined;
  const folder = join(work, `layer-of-${of}`);
  // If a process crashed on this layer, its successor runs it again.
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  try {
    const [file = ''] = saveModel(slice, folder);
    const session = await Session.open(join(folder, file), of, level);
    try {
      return (await session.run(syntheticFeeds(inputs, seed))).get(output);
    } finally {
      await session.release();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Compare layers of a model with their transformed versions. Run each separately on synthetic inputs. */
export async function checkStage(
  task: TaskOf<'check'>,
  { progress }: Pick<StageReporter, 'progress'>,
  level: GraphOptimization = 'all',
): Promise<StageAnswer<'check'>> {
  const before = loadModel(task.before);
  const after = loadModel(task.after);
  const layers: Checked[] = [];
  try {
    const values = inferValues(before);
    const names = sampled(task.layers);
    for (const [index, layer] of names.entries()) {
      const failed = (why: string): Checked => ({ layer, relative_l2_error: null, why });
      const node = before.graph.nodes.find((candidate) => nodeName(candidate) === layer);
      const inputs = node && observedInputs(before, node, values);
      const output = node?.output[0] ?? '';
      if (inputs === undefined || inputs.some(({ type }) => !isFeedType(type))) {
        layers.push(failed('its inputs are unknown'));
        continue;
      }
      const was = await runLayer(before, 'model', inputs, output, { ...task, level });
      const is = await runLayer(after, 'result', inputs, output, { ...task, level });
      if (is === undefined) layers.push(failed('it cannot be identified in the result'));
      else {
        const difference = new OutputDifference(layer);
        difference.add(was, is);
        const { relative_l2_error, why } = difference.result();
        layers.push({ layer, relative_l2_error, why });
      }
      progress((index + 1) / names.length);
    }
    return { layers, runtime: await runtimeVersion() };
  } finally {
    before.external.close();
    after.external.close();
  }
}
