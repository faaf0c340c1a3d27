import type { ListJobsResponse } from '@aws-sdk/client-batch';
import * as z from 'zod';
import { BatchClientError } from './batch-client-error.ts';
import type { Catalogue } from './catalogue.ts';
import { type Surroundings, summarizeJob } from './describe-job.ts';
import { type JobRecord, JobStatus } from './jobs/job-record.ts';
import type { JobStore } from './jobs/job-store.ts';

/**
 * List the jobs of a queue, newest first, or the nodes of a job.
 * @throws BatchClientError unless the request names exactly one of the two, and for an invalid token
 */
export function listJobs(
  request: ListRequest,
  store: JobStore,
  surroundings: Surroundings,
): ListJobsResponse {
  if ((request.jobQueue === undefined) === (request.multiNodeJobId === undefined)) {
    throw new BatchClientError('One of jobQueue and multiNodeJobId must be given, and only one');
  }
  if (request.multiNodeJobId !== undefined) return listNodes(request, store, surroundings);
  const filtered = request.filters !== undefined && request.filters.length > 0;
  const most = Math.min(request.maxResults ?? Number.POSITIVE_INFINITY, filtered ? maxByFilter : maxByStatus);
  const before = positionOf(request.nextToken, 's') ?? Number.POSITIVE_INFINITY;
  const matching = [...store.all()].filter(matcher(request, surroundings.catalogue));
  const rest = matching.reverse().filter(({ sequence }) => sequence < before);
  const page = rest.slice(0, most);
  const last = rest.length > page.length ? page.at(-1) : undefined;
  return {
    jobSummaryList: page.map((job) => summarizeJob(job, surroundings)),
    ...(last !== undefined && { nextToken: tokenOf('s', last.sequence) }),
  };
}

export const ListRequest = z.object({
  jobQueue: z.string().optional(),
  arrayJobId: z.undefined('is not served by the local Batch server').optional(),
  multiNodeJobId: z.string().optional(),
  jobStatus: JobStatus.optional(),
  maxResults: z.int().min(1).optional(),
  nextToken: z.string().max(100).optional(),
  filters: z
    .array(z.object({ name: z.literal('JOB_NAME'), values: z.array(z.string().min(1)).length(1) }))
    .max(1)
    .optional(),
});
type ListRequest = z.infer<typeof ListRequest>;

const maxByStatus = 1000;

function listNodes(request: ListRequest, store: JobStore, surroundings: Surroundings): ListJobsResponse {
  const job = store.get(request.multiNodeJobId ?? '');
  if (!job?.multinode)
    throw new BatchClientError(`Job ${request.multiNodeJobId} is not a multi-node parallel job`);
  const status = request.jobStatus ?? 'RUNNING';
  const after = positionOf(request.nextToken, 'n') ?? -1;
  const indexes = [...job.nodes.keys()].filter(
    (index) => index > after && job.nodes[index]?.status === status,
  );
  const page = indexes.slice(0, Math.min(request.maxResults ?? maxByStatus, maxByStatus));
  const last = indexes.length > page.length ? page.at(-1) : undefined;
  return {
    jobSummaryList: page.map((index) => summarizeJob(job, surroundings, index)),
    ...(last !== undefined && { nextToken: tokenOf('n', last) }),
  };
}

function positionOf(token: string | undefined, kind: 's' | 'n'): number | undefined {
  if (token === undefined) return undefined;
  const match = /^([sn])(\d{1,15})$/.exec(Buffer.from(token, 'base64url').toString('latin1'));
  if (match?.[1] !== kind) throw new BatchClientError('nextToken is not valid');
  return Number(match[2]);
}

/** Return the token of the position before a page: a job's sequence (`s`) or a node's index (`n`). */
function tokenOf(kind: 's' | 'n', position: number): string {
  return Buffer.from(`${kind}${position}`).toString('base64url');
}

const maxByFilter = 100;

function matcher({ jobQueue = '', jobStatus = 'RUNNING', filters }: ListRequest, catalogue: Catalogue) {
  const { name: queue } = catalogue.queue(jobQueue);
  const wanted = filters?.[0]?.values[0]?.toLowerCase();
  if (wanted === undefined) return (job: JobRecord) => job.queue === queue && job.status === jobStatus;
  const start = wanted.endsWith('*') ? wanted.slice(0, -1) : undefined;
  return (job: JobRecord) => {
    if (job.queue !== queue) return false;
    const name = job.name.toLowerCase();
    return start === undefined ? name === wanted : name.startsWith(start);
  };
}
