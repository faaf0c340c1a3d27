import { markChanged } from '../data/experiments/catalogue-mark.ts';
import { type Experiment, requireExperiment, touchExperiment } from '../data/experiments/experiment.ts';
import { type ExperimentFields, findFields, putFields } from '../data/experiments/tracking.ts';
import { noticeWrites } from '../data/hooks/notice.ts';
import { isFinal } from '../data/jobs/job-status.ts';
import { defaultName } from '../data/projects/default-name.ts';
import { count } from '../data/projects/project.ts';
import { retryOnConflict } from '../data/table/retry-on-conflict.ts';
import type { TableReader, TableWriter, Write } from '../data/table/table.ts';
import { experimentEvents } from '../jobs/conclusion.ts';

/**
 * Receives the current fields and the experiment. If it returns the same fields object and no `set`, nothing is
 * written.
 */
export type ChangeFields = (
  fields: ExperimentFields,
  experiment: Experiment,
) => FieldsChange | Promise<FieldsChange>;

/** Result of a change. */
interface FieldsChange {
  fields: ExperimentFields;
  /** Changed attributes of the experiment's own record. */
  set?: Partial<Experiment>;
}

/**
 * Change the fields of an experiment and raise its version. Retry if another change came between.
 * @param read returns the result of {@link readBeforeChange} if that has already begun; an outdated result costs
 * another call
 * @returns the experiment after the change
 * @throws ServiceError `not-found` if it does not exist
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
    const told = await endNotices(records, experiment, set, now());
    await records.write(
      touchExperiment(experiment, set),
      putFields(project_id, experiment_id, value, previous),
      mark.write,
      ...(set?.status === undefined && set?.stopped_at === undefined
        ? []
        : [count(project_id, { logged_changes: 1 })]),
      ...told,
    );
    // The result is current, because the transaction replaced exactly this version.
    return { ...experiment, ...set, version: experiment.version + 1 };
  });
}

/** Build the write that tells hooks that a client ended an experiment. Return none if it did not, or no hook asks. */
async function endNotices(
  records: TableReader<'records'>,
  { project_id, experiment_id: subject }: Experiment,
  { status }: Partial<Experiment> = {},
  now: Date,
): Promise<Write[]> {
  if (status === undefined || !isFinal(status)) return [];
  return noticeWrites(records, { type: experimentEvents[status], project_id, subject }, now);
}

interface Changing {
  records: TableWriter<'records'>;
  now(): Date;
}

type ExperimentKey = Pick<Experiment, 'project_id' | 'experiment_id'>;

/** @throws ServiceError `not-found` if the experiment does not exist */
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

/** Return default fields for an experiment of a release that stored none. */
export const noFields = ({ config_id, created_at }: Experiment): ExperimentFields => ({
  name: defaultName(config_id),
  note: null,
  tags: {},
  params: {},
  git: null,
  updated_at: created_at,
  version: 0,
});

/** Result of {@link readBeforeChange}. */
export type FieldsRead = Awaited<ReturnType<typeof readBeforeChange>>;
