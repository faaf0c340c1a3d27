import { ServiceError } from '../core/service-error.ts';
import { originOf } from '../data/accounts/ci-run.ts';
import { markNew } from '../data/experiments/catalogue-mark.ts';
import { type Experiment, emptyExperiment, putExperiment } from '../data/experiments/experiment.ts';
import { foldNowAndThen } from '../data/experiments/fold-catalogue.ts';
import { type ExperimentFields, putFields } from '../data/experiments/tracking.ts';
import { noticeWrites } from '../data/hooks/notice.ts';
import { newJob } from '../data/jobs/job.ts';
import { type FinalStatus, isFinal, rankOf } from '../data/jobs/job-status.ts';
import { count, type Project, projectExists } from '../data/projects/project.ts';
import type { TableWriter, Write } from '../data/table/table.ts';
import { ConditionFailedError } from '../data/table/write-label.ts';
import type { Caller } from '../http/definition/endpoint-context.ts';
import type { RuleProgress } from '../run-rules/judge-rules.ts';
import { rulesOfRun } from '../run-rules/recorded-rule.ts';
import { unjudgedText } from '../run-rules/rule-text.ts';
import type { RunRule } from '../run-rules/run-rule.ts';

/** Build the record of an experiment that a client records. */
export const loggedExperiment = ({
  project,
  experiment_id,
  caller: { user_id, ci },
  fields: { updated_at: created_at },
  started_at,
  job,
  rules: own,
}: Omit<NewExperiment, 'writes' | 'isAsked'>): Experiment => {
  const rules = rulesOfRun(own, project.rules);
  return {
    ...newJob({ ...noJob, user_id, created_at }),
    ...originOf({ ci }),
    ...emptyExperiment,
    ...(rules.length > 0 && { rules }),
    status: 'RUNNING',
    status_rank: rankOf('RUNNING'),
    status_reason: null,
    started_at: started_at ?? created_at,
    experiment_id,
    project_id: project.project_id,
    kind: 'logged',
    ...(job !== undefined && { recorded_by: job.experiment_id }),
  };
};

interface NewExperiment {
  project: Project;
  experiment_id: string;
  caller: Pick<Caller, 'user_id' | 'ci'>;
  fields: ExperimentFields;
  /** ISO 8601. Default: the time of recording. */
  started_at?: string | undefined;
  /** Training whose program records it. */
  job?: Experiment | undefined;
  /** Its own rules, besides those of its project. */
  rules?: readonly RunRule[] | undefined;
  /** Further writes of the same transaction. */
  writes?: readonly Write[];
  /** Whether a hook asks for the start, if that read has already begun. */
  isAsked?: Promise<boolean> | undefined;
}

/** Job fields of an experiment without a job. */
const noJob = { vcpus: 0, memory: 0, gpus: 0, nodes: 1, timeout: 0, limit_share: null, limits: null };

/**
 * Record an experiment that runs elsewhere as RUNNING, with its fields and its mark in the catalogue.
 *
 * @returns undefined if the project is gone, or a condition of `writes` does not hold
 */
export async function recordLogged(
  records: TableWriter<'records'>,
  { writes = [], isAsked, ...recorded }: NewExperiment,
): Promise<Experiment | undefined> {
  const experiment = loggedExperiment(recorded);
  const { project_id, experiment_id } = experiment;
  const started = { type: 'experiment.started', project_id, subject: experiment_id } as const;
  const told = await noticeWrites(records, started, new Date(recorded.fields.updated_at), isAsked);
  try {
    await records.write(
      projectExists(project_id),
      putExperiment(experiment),
      putFields(project_id, experiment_id, recorded.fields, undefined),
      markNew(project_id, experiment_id),
      count(project_id, { experiments: 1, logged_changes: 1 }),
      ...told,
      ...writes,
    );
  } catch (error) {
    if (error instanceof ConditionFailedError) return undefined;
    throw error;
  }
  await foldNowAndThen(records, project_id, experiment_id);
  return experiment;
}

/** Final statuses of an experiment. */
export const endings = ['SUCCEEDED', 'FAILED', 'CANCELLED'] as const satisfies readonly FinalStatus[];

/** Status that a client may set on an experiment that runs elsewhere. CREATED means that it has not begun. */
export type ClientStatus = 'CREATED' | 'RUNNING' | FinalStatus;

/**
 * Return the changes of the record when a client sets the status of an experiment that runs elsewhere.
 * @throws ServiceError `conflict` for a training, whose job sets the status
 */
export function changedStatus(
  experiment: Experiment,
  status: ClientStatus,
  now: Date,
): { set?: Partial<Experiment> } {
  if (experiment.kind !== 'logged') {
    throw new ServiceError(
      'conflict',
      'Only its job sets the status of a training. To end it, use POST …/cancel.',
    );
  }
  if (status === experiment.status) return {};
  const { rules = [] } = experiment;
  // Its program may go on to its end; what the rule has said stands, unless the run is resumed.
  const isStopped =
    experiment.status === 'CANCELLED' && rules.some(({ rule, met }) => met && rule.do === 'stop');
  if (isStopped && isFinal(status)) return {};
  const stopped_at = isFinal(status) ? now.toISOString() : null;
  const warnings = isFinal(status) ? unjudgedRules(experiment) : [];
  const status_reason = isStopped ? null : experiment.status_reason;
  return {
    set: {
      ...{ status, status_rank: rankOf(status), status_reason, stopped_at },
      ...(warnings.length > 0 && { warnings }),
    },
  };
}

/** Return sentences about the rules of an ended run that no point could be judged by. */
const unjudgedRules = ({ rules = [], rule_progress }: Experiment): string[] => {
  const progress = rule_progress === undefined ? undefined : (JSON.parse(rule_progress) as RuleProgress);
  return rules.flatMap(({ rule }, index) =>
    progress?.rules[index]?.isSeen === true ? [] : unjudgedText(rule, () => undefined),
  );
};
