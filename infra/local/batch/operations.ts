import * as z from 'zod';
import { BatchClientError } from './batch-client-error.ts';
import { describeJob, describeNode, type Surroundings } from './describe-job.ts';
import type { JobStore } from './jobs/job-store.ts';
import { newJobRecord } from './jobs/new-job-record.ts';
import { ListRequest, listJobs } from './list-jobs.ts';
import type { Scheduler } from './scheduler.ts';
import { SubmitRequest } from './submit-request.ts';

export interface OperationContext {
  store: JobStore;
  scheduler: Scheduler;
  surroundings: Surroundings;
  minimumTimeoutSeconds: number;
}

/** Takes the parsed body of a request and returns the response's. @throws BatchClientError, ZodError */
type Operation = (body: unknown, context: OperationContext) => object | Promise<object>;

const DescribeRequest = z.object({ jobs: z.array(z.string()).max(100) });
const StopRequest = z.object({ jobId: z.string().min(1), reason: z.string().min(1).max(1024) });

/** The operations served, by path; each is a POST. */
export const operations: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ['/v1/submitjob', submitJob],
  ['/v1/describejobs', describeJobs],
  ['/v1/listjobs', (body, { store, surroundings }) => listJobs(ListRequest.parse(body), store, surroundings)],
  ['/v1/canceljob', (body, context) => stopJob(body, false, context)],
  ['/v1/terminatejob', (body, context) => stopJob(body, true, context)],
]);

async function submitJob(body: unknown, context: OperationContext): Promise<object> {
  const { store, scheduler, surroundings, minimumTimeoutSeconds } = context;
  const { catalogue } = surroundings;
  const request = SubmitRequest.parse(body);
  const job = newJobRecord(request, {
    catalogue,
    minimumTimeoutSeconds,
    sequence: store.nextSequence(),
    now: Date.now(),
    jobExists: (id) => store.get(id) !== undefined,
  });
  await store.add(job);
  scheduler.accept(job.id);
  return { jobArn: catalogue.arn('job', job.id), jobId: job.id, jobName: job.name };
}

/** Ids that no job has are passed over. */
function describeJobs(body: unknown, { store, surroundings }: OperationContext): object {
  const { jobs } = DescribeRequest.parse(body);
  return {
    jobs: [...new Set(jobs)].flatMap((given) => {
      const [, id = '', index] = /(?:^|:job\/)([^/#:]*)(?:#(\d{1,5}))?$/.exec(given) ?? [];
      const job = store.get(id);
      if (job === undefined) return [];
      return (
        (index === undefined
          ? describeJob(job, surroundings)
          : describeNode(job, Number(index), surroundings)) ?? []
      );
    }),
  };
}

async function stopJob(
  body: unknown,
  terminate: boolean,
  { store, scheduler }: OperationContext,
): Promise<object> {
  const { jobId, reason } = StopRequest.parse(body);
  if (store.get(jobId) === undefined) throw new BatchClientError(`Job ${jobId} does not exist`);
  await scheduler.stop(jobId, reason, terminate);
  return {};
}
