import type { StageAnswer } from '../../measure/session/stage-answers.ts';
import type { TaskOf } from '../../measure/session/stage-task.ts';
import { applyStrategy } from '../../methods/apply/apply-strategy.ts';
import { parseRequest } from '../../methods/apply/parse-request.ts';
import { readObservations } from '../../methods/calibrate/observations.ts';
import type { BlockMemory } from '../../methods/quantize/blocks/block-memory.ts';
import { TransformReport } from '../../methods/report/report.ts';
import { loadModel } from '../../model/file/load-model.ts';
import { saveModel } from '../../model/file/save-model.ts';
import { dropNodeMetadata } from '../../model/graph/drop-node-metadata.ts';
import type { StageReporter } from '../process/stage-reporter.ts';

/** Transform a model and write it to an empty folder. */
export function transformStage(
  task: TaskOf<'transform'>,
  { progress }: Pick<StageReporter, 'progress'>,
  memory?: BlockMemory,
): StageAnswer<'transform'> {
  const { model: path, out } = task;
  const parsed = parseRequest(task.request);
  const request =
    parsed.operation === 'prune' && task.compression !== undefined
      ? { ...parsed, compression: task.compression }
      : parsed;
  const observed = readObservations(task.observed);
  const model = loadModel(path);
  const report = new TransformReport();
  try {
    const exclude = [...request.exclude, ...task.exclude];
    const work = {
      model,
      report,
      observed,
      floatInputs: task.float_inputs,
      eightBits: task.eight_bits,
      memory,
    };
    applyStrategy(work, { ...request, exclude });
    if (!request.keep_metadata) dropNodeMetadata(model.graph);
    const files = saveModel(model, out, task.name, progress);
    // Only saving computes some weights, so their errors are known only now.
    const { layers, kept, notes, warnings, pruning } = report;
    return { files, layers, kept, notes, warnings, pruning };
  } finally {
    model.external.close();
  }
}
