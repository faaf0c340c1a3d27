import * as z from 'zod';
import { Capacity, CapacityType, CostEstimates } from '../../core/capacity/capacity.ts';
import { Timestamp, Ulid } from '../../core/formats.ts';
import { tokenOrigin } from '../accounts/ci-run.ts';
import { isSpread, type SpreadList, spreadList } from '../lists/spread-list.ts';
import {
  readWatched,
  type WatchedList,
  type WatchedPage,
  type WatchedPosition,
} from '../lists/watched-list.ts';
import { count } from '../projects/project.ts';
import type { Change, Condition } from '../table/condition.ts';
import { recordType, unreadableVersion } from '../table/record.ts';
import type { Item, Key, TableReader, Write } from '../table/table.ts';
import { releaseCluster } from './cluster-claim.ts';
import { finalRank, JobStatus } from './job-status.ts';
import { removeJobVariables } from './job-variables.ts';
import { releaseVcpus } from './vcpu-shares.ts';

/** Kinds of jobs that train. They are experiments of a project. */
export const TrainingKind = z.enum(['train', 'train-remote']);
export type TrainingKind = z.infer<typeof TrainingKind>;

/** Kinds of jobs that optimize a model. */
export const OptimizationKind = z.enum(['prune', 'quantize']);
export type OptimizationKind = z.infer<typeof OptimizationKind>;

/** One attempt that has ended, as Batch reports it. */
export const Attempt = z.object({
  attempt: z.number().int(),
  started_at: Timestamp.nullable(),
  stopped_at: Timestamp.nullable(),
  exit_code: z.number().int().nullable(),
  reason: z.string().nullable(),
  /** Absent in attempts of releases that did not record it. */
  capacity_type: CapacityType.optional(),
});
export type Attempt = z.infer<typeof Attempt>;

/** Fields that every job record has besides its kind. Sizes are per node. */
export const jobFields = () => ({
  status: JobStatus,
  /** Rank of the status. With it, a condition of the write can refuse a step back. */
  status_rank: z.number().int(),
  status_reason: z.string().nullable(),
  /** Executions so far. Equals the number of the lease. */
  attempt: z.number().int(),
  /** Attempt that Batch last reported. */
  batch_attempt: z.number().int(),
  attempts: z.array(Attempt),
  /** Where it may run. Absent in jobs of releases that did not record it. */
  capacity: Capacity.optional(),
  /** Where its present submission runs. Absent in such jobs. */
  capacity_type: CapacityType.optional(),
  /** Absent in a job that is always on demand, or has no price. */
  estimates: CostEstimates.optional(),
  /** Attempts of earlier submissions, all lost. Absent in a job that was submitted once. */
  former_attempts: z.number().int().optional(),
  batch_job_id: z.string().nullable(),
  /**
   * When a process claimed its submission: the one that recorded it or gave it its turn, in that transaction, or a later one.
   * Absent while it waits in line, and in jobs of releases that did not record it.
   */
  submitting_at: Timestamp.optional(),
  /** Id of the Batch job that builds the environment. Batch waits for its success first. */
  depends_on: z.string().nullable(),
  user_id: Ulid,
  created_at: Timestamp,
  started_at: Timestamp.nullable(),
  /** Start of its last attempt. Absent before the first, and for jobs of releases that did not record it. */
  attempt_started_at: Timestamp.optional(),
  stopped_at: Timestamp.nullable(),
  cancel_requested_at: Timestamp.nullable(),
  /** Name of the user who cancelled it. Null if no user did, and for jobs of releases that did not record it. */
  cancelled_by: z.string().nullable().default(null),
  /** Time of the last comparison with Batch. */
  checked_at: Timestamp,
  exit_code: z.number().int().nullable(),
  signal: z.string().nullable(),
  vcpus: z.number(),
  /** MiB. */
  memory: z.number().int(),
  gpus: z.number().int(),
  nodes: z.number().int(),
  /** Seconds. */
  timeout: z.number().int(),
  /** How its size is enforced. Null for jobs of releases that did not record it. */
  limits: SizeLimits.nullable().default(null),
  /** Ticket in the line in which it waits for a place. Null if it does not wait. */
  line_ticket: z.number().int().nullable().default(null),
  /** Time at which it left the line. Null if it never waited. */
  begun_at: Timestamp.nullable().default(null),
  /** Index of the share that its vCPUs come from. Null for a run that a client or an archive recorded. */
  limit_share: z.number().int().nullable().default(null),
  /** US dollars that it may cost at most. Null without a budget of its own. */
  budget: z.number().nullable().default(null),
  ...tokenOrigin(),
  /** US dollars that the months of its project and user, and its token, are charged for it. Null if it has no price. */
  charged: z.number().nullable().default(null),
  /** US dollars of these that it has spent, as far as it reported. */
  spent: z.number().default(0),
  version: z.number().int(),
});

/** Default values for unreadable attributes of a job that is being removed. */
export const unreadableJob = () => ({
  status: 'FAILED' as const,
  status_rank: finalRank,
  status_reason: null,
  attempt: 0,
  batch_attempt: 0,
  attempts: [],
  batch_job_id: null,
  depends_on: null,
  user_id: '',
  created_at: '',
  started_at: null,
  stopped_at: null,
  cancel_requested_at: null,
  cancelled_by: null,
  checked_at: '',
  exit_code: null,
  signal: null,
  vcpus: 0,
  memory: 0,
  gpus: 0,
  nodes: 0,
  timeout: 0,
  limits: null,
  line_ticket: null,
  begun_at: null,
  limit_share: null,
  budget: null,
  charged: null,
  spent: 0,
  version: unreadableVersion,
});

const unfinishedSchema = () =>
  z.object({
    job_id: Ulid,
    kind: z.string(),
    subject: z.object({ pk: z.string(), sk: z.string() }),
    /** Project that counts it as an unfinished experiment. Null for jobs without a project. */
    project_id: Ulid.nullable(),
    user_id: Ulid,
    /** Total vCPUs of all nodes. They count against the deployment's limit until the job ends. */
    vcpus: z.number(),
    limit_share: z.number().int().nullable().default(null),
    /**
     * Owner of the cluster that it runs on. Null for jobs on other compute, and for jobs of releases that did not
     * count clusters.
     */
    cluster_owner: Ulid.nullable().default(null),
  });
const unfinished = recordType('unfinished-job', unfinishedSchema);

/** Schema of a row in the list of unfinished jobs. */
export const UnfinishedJob = unfinishedSchema;
/**
 * Row of an unfinished job, with the key (`subject`) of its record. Every unfinished job has one, so none is
 * forgotten.
 */
export type UnfinishedJob = z.infer<typeof unfinished.schema>;

const unfinishedList: SpreadList = spreadList('UNFINISHED_JOBS');
/** Key patterns of the list of unfinished jobs, for the policy of a role. */
export const unfinishedPatterns = unfinishedList.patterns;
/** List of unfinished jobs. */
export const unfinishedJobs: WatchedList<'records'> = {
  table: 'records',
  partitions: unfinishedList.partitions,
  isSpread,
};
/** Return the id of a new job, derived from a new ULID. */
export const newJobId = unfinishedList.newId;
export const unfinishedKey = (job_id: string): Key => unfinishedList.keyOf(job_id);
export const userLimitKey = (user_id: string): Key => ({ pk: 'LIMITS', sk: `USER#${user_id}` });

/** Partition of all records that a job itself writes: its lease, log, metrics, artifacts and inputs. */
export const jobPartition = (job_id: string): string => `JOB#${job_id}`;

export const findUnfinished = (
  records: TableReader<'records'>,
  job_id: string,
): Promise<UnfinishedJob | undefined> => unfinished.find(records, unfinishedKey(job_id));

/** Return a page of the unfinished jobs, partition by partition. */
export const listUnfinished = (
  records: TableReader<'records'>,
  position: WatchedPosition | undefined,
): Promise<WatchedPage<UnfinishedJob>> =>
  readWatched(records, unfinishedJobs, unfinished.parse, position, 100);

// A transaction may write an item only once, so the same write counts a new experiment.
const countUnfinished = (
  { project_id }: UnfinishedJob,
  unfinished: number,
  others: { experiments?: number; ended?: number },
): Write[] => (project_id === null ? [] : [count(project_id, { unfinished, ...others })]);

/** Build the write that adds a job to the list of unfinished jobs. */
export const putUnfinished = (job: UnfinishedJob): Write => ({
  put: unfinished.item(unfinishedKey(job.job_id), job),
  if: { exists: false },
});

/** Build the write that counts a job of a user. It fails if the user would exceed the limit. */
export const countOfUser = ({ user_id }: UnfinishedJob, most: number): Write => ({
  update: userLimitKey(user_id),
  change: { add: { unfinished: 1 }, set: { record_type: 'limit', schema_version: 0 } },
  if: { any: [{ absent: ['unfinished'] }, { atMost: { unfinished: most - 1 } }] },
});

/** Build the writes that count a job in its project. */
export const countInProject = (job: UnfinishedJob): Write[] => countUnfinished(job, 1, { experiments: 1 });

/** Build the writes that end a job that never left its line, except the write of its own record. */
export const endWaiting = (job: UnfinishedJob): Write[] => countUnfinished(job, -1, { ended: 1 });

/** Build the same write for several jobs of one project. */
export const endWaitingOf = (project_id: string, jobs: number): Write =>
  count(project_id, { unfinished: -jobs, ended: jobs });

/** Return the number of a user's jobs that have a place. */
export const placesOf = (item: Item | undefined): number => {
  const places = item?.['unfinished'];
  return typeof places === 'number' ? places : 0;
};

/**
 * Build the writes that end a job, except the write of its own record. They remove it from the list of unfinished
 * jobs, release its reservations, and remove its copy of the project's variables.
 */
export function endJob(job: UnfinishedJob): Write[] {
  return [
    ...(job.project_id === null ? [] : [removeJobVariables(jobPartition(job.job_id))]),
    { delete: unfinishedKey(job.job_id), if: { exists: true } },
    { update: userLimitKey(job.user_id), change: { add: { unfinished: -1 } } },
    releaseVcpus(job),
    ...releaseCluster(job),
    ...countUnfinished(job, -1, { ended: 1 }),
  ];
}

/** Build a change of a job's own record. It fails once the job has ended. */
export function changeJob(subject: Key, change: Change, condition: Condition = {}): Write {
  return {
    update: subject,
    change: { ...change, add: { ...change.add, version: 1 } },
    if: { ...condition, below: { ...condition.below, status_rank: finalRank } },
  };
}

export type JobFields = z.infer<z.ZodObject<ReturnType<typeof jobFields>>>;
/** Request for a job: its size, limits and user. */
type Asked = Pick<
  JobFields,
  'user_id' | 'created_at' | 'vcpus' | 'memory' | 'gpus' | 'nodes' | 'timeout' | 'limit_share' | 'limits'
>;

/** Return the fields of a new job that AWS Batch does not know yet. */
export const newJob = (asked: Asked): JobFields => ({
  ...asked,
  status: 'CREATED',
  status_rank: 0,
  status_reason: 'Accepted; not yet in the job queue.',
  attempt: 0,
  batch_attempt: 0,
  attempts: [],
  batch_job_id: null,
  depends_on: null,
  started_at: null,
  stopped_at: null,
  cancel_requested_at: null,
  cancelled_by: null,
  checked_at: asked.created_at,
  exit_code: null,
  signal: null,
  line_ticket: null,
  begun_at: null,
  budget: null,
  charged: null,
  spent: 0,
  version: 1,
});

/** How a job's requested size is enforced. */
export const SizeLimits = z.object({
  /**
   * `enforced`: by its container. `watched`: the supervisor sums the memory of its processes, and ends them if
   * they exceed it. `not enforced`: this system does not show the memory of processes.
   */
  memory: z.enum(['enforced', 'watched', 'not enforced']),
  /** `enforced`: by its container. `reserved`: the job may use idle vCPUs of others. `not enforced`: no limit. */
  vcpus: z.enum(['enforced', 'reserved', 'not enforced']),
  /**
   * What separates the job from the service. `sandbox`: namespaces. `user`: a user without rights. `none`: the job has
   * the rights of the service. Null for jobs of releases that did not record it.
   */
  separation: z.enum(['container', 'sandbox', 'user', 'none']).nullable().default(null),
});
export type SizeLimits = z.infer<typeof SizeLimits>;

interface JobHost {
  /** Whether jobs are processes of this machine; otherwise they are containers. */
  asProcess: boolean;
  /** What limits and separates processes of this machine. */
  jobsMemory: 'watched' | 'not enforced';
  jobsSeparation: 'sandbox' | 'user' | 'none' | undefined;
  /** Whether the job runs on nodes, whose containers share the processors. */
  isOnNodes: boolean;
}

/** Return how this host enforces a job's size. */
export function sizeLimits({ asProcess, jobsMemory, jobsSeparation, isOnNodes }: JobHost): SizeLimits {
  if (asProcess) {
    return { memory: jobsMemory, vcpus: 'not enforced', separation: jobsSeparation ?? null };
  }
  return { memory: 'enforced', vcpus: isOnNodes ? 'reserved' : 'enforced', separation: 'container' };
}
