import type { StageAnswer } from '../../measure/session/stage-answers.ts';
import type { TaskOf } from '../../measure/session/stage-task.ts';
import { raiseOpset } from '../../methods/opset/raise-opset.ts';
import { loadModel } from '../../model/file/load-model.ts';
import { saveModel } from '../../model/file/save-model.ts';

/** Upgrade a model's opset and write it to an empty folder. */
export function raiseStage({ model: path, to, out, name }: TaskOf<'raise'>): StageAnswer<'raise'> {
  const model = loadModel(path);
  try {
    raiseOpset(model, to);
    return { files: saveModel(model, out, name) };
  } finally {
    model.external.close();
  }
}
