import { versionStages } from '../../data/models/registered-model.ts';
import { invalidValue } from '../protocol/mlflow-error.ts';

/** A stage by its name in any case. @throws ServiceError `INVALID_PARAMETER_VALUE` */
export function stageOf(name: string): string {
  const stage = versionStages.find((one) => one.toLowerCase() === name.toLowerCase());
  if (stage !== undefined) return stage;
  throw invalidValue(
    'stage',
    name,
    `Invalid Model Version stage: ${name}. Value must be one of ${versionStages.join(', ')}.`,
  );
}
