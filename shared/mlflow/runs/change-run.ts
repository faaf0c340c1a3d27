import type { Experiment } from '../../data/experiments/experiment.ts';
import type { ExperimentFields } from '../../data/experiments/tracking.ts';
import { maxParam, maxRunName, maxTag } from '../../data/experiments/tracking-rules.ts';
import { readAhead } from '../../data/table/table.ts';
import {
  type ChangeFields,
  changeFields,
  type FieldsRead,
  readBeforeChange,
} from '../../experiments/change-fields.ts';
import { isFromCommand } from '../../experiments/command-facts.ts';
import { requireRoom } from '../../experiments/field-rules.ts';
import { noteTag } from '../projects/show-experiment.ts';
import { isOwnRun, type MlflowContext } from '../protocol/context.ts';
import { type RunKey, runIdOf } from '../protocol/ids.ts';
import { mlflowError } from '../protocol/mlflow-error.ts';
import { shortened } from '../protocol/scalars.ts';
import { requireActive } from './find-run.ts';
import { runNameTag } from './show-run.ts';

/** Change the fields of an active run. Equal fields cause no write. */
export function changeRun(
  context: Changing,
  key: RunKey,
  change: (fields: ExperimentFields, experiment: Experiment) => ExperimentFields | Promise<ExperimentFields>,
  read?: FieldsReading,
  parameter = 'tags',
): Promise<Experiment> {
  const changeActive: ChangeFields = async (present, experiment) => {
    requireActive(present, key);
    const fields = await change(present, experiment);
    return { fields: isSame(fields, present) ? present : requireRoom(fields, parameter) };
  };
  return changeRunFields(context, key, changeActive, read);
}

type Changing = Pick<MlflowContext, 'records' | 'now' | 'job'>;

type FieldsReading = () => Promise<FieldsRead>;

const isSame = (one: ExperimentFields, other: ExperimentFields): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/** Change the fields of a run. A job's own run changes under the job's lease. */
export function changeRunFields(
  context: Changing,
  key: RunKey,
  change: ChangeFields,
  read?: FieldsReading,
): Promise<Experiment> {
  const { job } = context;
  return job !== undefined && isOwnRun(context, key)
    ? job.changeFields(change)
    : changeFields(context, key, change, read);
}

/** Add tags to the fields. Some MLflow tags are separate fields of this service. */
export function withTags(fields: ExperimentFields, pairs: readonly Pair[]): ExperimentFields {
  const tags = new Map(Object.entries(fields.tags));
  let { name, note } = fields;
  for (const { key, value } of pairs) {
    const kept = shortened(value, maxTag);
    if (key === runNameTag) name = shortened(kept, maxRunName);
    else if (key === noteTag) note = kept;
    else tags.set(key, kept);
  }
  return { ...fields, name, note, tags: Object.fromEntries(tags) };
}

interface Pair {
  key: string;
  value: string;
}

/** Start to read the data for a change of a run in parallel with the access check. */
export const readFieldsAhead = (context: Changing, key: RunKey): FieldsReading | undefined =>
  isOwnRun(context, key) ? undefined : readAhead(() => readBeforeChange(context, key));

export const logFields = (
  context: Changing,
  key: RunKey,
  { tags = [], params = [] }: { tags?: readonly Pair[]; params?: readonly Pair[] },
  read?: FieldsReading,
): Promise<Experiment> =>
  changeRun(
    context,
    key,
    (present, experiment) => withTags(withParams(present, params, experiment), tags),
    read,
  );

/** @throws ServiceError `INVALID_PARAMETER_VALUE` if two params have one key */
export function requireUniqueParams(params: readonly Pair[]): void {
  const seen = new Set<string>();
  const repeated = params.filter(({ key }) => seen.has(key) || !seen.add(key));
  if (repeated.length === 0) return;
  const keys = repeated.map(({ key }) => `'${key}'`).join(', ');
  throw mlflowError(
    'INVALID_PARAMETER_VALUE',
    `Duplicate parameter keys have been submitted: [${keys}]. Please ensure the request contains only one param value per param key.`,
  );
}

/** Return the params of a new run. @throws ServiceError `INVALID_PARAMETER_VALUE` if two have one key */
export function newParams(pairs: readonly Pair[]): Record<string, string> {
  requireUniqueParams(pairs);
  return Object.fromEntries(pairs.map(({ key, value }) => [key, shortened(value, maxParam)]));
}

/**
 * Add params to the fields. A param that only the command states yields to what the program logs.
 * @throws ServiceError `INVALID_PARAMETER_VALUE` if a param already has another value
 */
function withParams(
  fields: ExperimentFields,
  pairs: readonly Pair[],
  experiment: Experiment,
): ExperimentFields {
  const params = new Map(Object.entries(fields.params));
  const changed: string[] = [];
  for (const { key: name, value } of pairs) {
    const kept = shortened(value, maxParam);
    const present = params.get(name);
    if (present !== undefined && present !== kept && !isFromCommand(experiment, name, present))
      changed.push(`{'key': '${name}', 'old_value': '${present}', 'new_value': '${kept}'}`);
    params.set(name, kept);
  }
  if (changed.length > 0) {
    const message = `Changing param values is not allowed. Params were already logged='[${changed.slice(0, 10).join(', ')}]' for run ID='${runIdOf(experiment)}'.`;
    throw mlflowError('INVALID_PARAMETER_VALUE', message);
  }
  return { ...fields, params: Object.fromEntries(params) };
}
