import { loadModel } from '../model/load-model.ts';
import { saveModel } from '../model/save-model.ts';
import { raiseOpset } from '../opset/raise-opset.ts';
import type { StageAnswer } from '../stage-task/stage-answers.ts';
import type { TaskOf } from '../stage-task/stage-task.ts';

/** Writes a model with a later operator set into an empty folder. */
export function raiseStage({ model: path, to, out, name }: TaskOf<'raise'>): StageAnswer<'raise'> {
  const model = loadModel(path);
  try {
    raiseOpset(model, to);
    return { files: saveModel(model, out, name) };
  } finally {
    model.external.close();
  }
}
