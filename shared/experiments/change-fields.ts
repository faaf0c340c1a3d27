import { markChanged } from '../data/experiments/catalogue-mark.ts';
import { type Experiment, requireExperiment, touchExperiment } from '../data/experiments/experiment.ts';
import { type ExperimentFields, findFields, putFields } from '../data/experiments/tracking.ts';
import { defaultName } from '../data/projects/default-name.ts';
import { retryOnConflict } from '../data/table/retry-on-conflict.ts';
import type { TableWriter } from '../data/table/table.ts';

/** Receives the fields and the experiment as they are; the same fields and nothing else change nothing. */
export type ChangeFields = (
  fields: ExperimentFields,
  experiment: Experiment,
) => FieldsChange | Promise<FieldsChange>;

/** What a change makes of an experiment. */
interface FieldsChange {
  fields: ExperimentFields;
  /** Attributes of the experiment's own record. */
  set?: Partial<Experiment>;
}

/**
 * Change what people and programs say of an experiment, and give it its next version; again when another change came
 * between.
 * @param read what {@link readBeforeChange} found, where it was begun before; out of date, it costs another call
 * @returns the experiment as it is then
 * @throws ServiceError `not-found` when there is none
 */
export function changeFields(
  { records, now }: Changing,
  { project_id, experiment_id }: ExperimentKey,
  change: ChangeFields,
  read = () => readBeforeChange({ records }, { project_id, experiment_id }),
): Promise<Experiment> {
  return retryOnConflict(async () => {
    const { experiment, previous, mark } = await read();
    const present = previous ?? noFields(experiment);
    const { fields, set } = await change(present, experiment);
    if (fields === present && set === undefined) return experiment;
    const value = { ...fields, updated_at: now().toISOString(), version: present.version + 1 };
    await records.write(
      touchExperiment(experiment, set),
      putFields(project_id, experiment_id, value, previous),
      mark.write,
    );
    // So it is now, because nothing but the fields of this version was replaced.
    return { ...experiment, ...set, version: experiment.version + 1 };
  });
}

interface Changing {
  records: TableWriter<'records'>;
  now(): Date;
}

type ExperimentKey = Pick<Experiment, 'project_id' | 'experiment_id'>;

/** @throws ServiceError `not-found` when there is none */
export async function readBeforeChange(
  { records }: Pick<Changing, 'records'>,
  { project_id, experiment_id }: ExperimentKey,
) {
  const [experiment, previous, mark] = await Promise.all([
    requireExperiment(records, project_id, experiment_id),
    findFields(records, project_id, experiment_id),
    markChanged(records, project_id, experiment_id),
  ]);
  return { experiment, previous, mark };
}

/** The fields of an experiment of a release that kept none. */
export const noFields = ({ config_id, created_at }: Experiment): ExperimentFields => ({
  name: defaultName(config_id),
  note: null,
  tags: {},
  params: {},
  git: null,
  updated_at: created_at,
  version: 0,
});

/** What is read of an experiment before its fields are changed. */
export type FieldsRead = Awaited<ReturnType<typeof readBeforeChange>>;
