import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import * as z from 'zod';
import type { Credentials } from '../access/session-credentials.ts';
import { SignatureError, verifySignature } from '../access/verify-signature.ts';
import { BatchClientError } from './batch-client-error.ts';
import { describeJob, describeNode, type Surroundings } from './describe-job.ts';
import type { JobStore } from './jobs/job-store.ts';
import { newJobRecord, SubmitRequest } from './jobs/new-job-record.ts';
import { ListRequest, listJobs } from './list-jobs.ts';
import type { Scheduler } from './scheduler.ts';

/** Handle one request of AWS's REST-JSON protocol. Never reject. */
export async function answerRequest(
  request: IncomingMessage,
  response: ServerResponse,
  context: HttpContext,
): Promise<void> {
  const requestId = randomUUID();
  const { status, body, error } = await answer(request, context).catch((thrown: unknown) =>
    refusal(thrown, requestId),
  );
  const payload = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(payload),
    'x-amzn-requestid': requestId,
    ...(error !== undefined && { 'x-amzn-errortype': error }),
    // Do not read the rest of a body that is too large.
    ...(status === 413 && { connection: 'close' }),
  });
  response.end(payload);
}

interface HttpContext extends OperationContext {
  region: string;
  credentials: Credentials;
}

interface OperationContext {
  store: JobStore;
  scheduler: Scheduler;
  surroundings: Surroundings;
  minimumTimeoutSeconds: number;
}

/** Maximum bytes of a submission in AWS Batch. Other requests are smaller. */
const maxBodyBytes = 30 * 1024;

const DescribeRequest = z.object({ jobs: z.array(z.string()).max(100) });

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

/** Skip unknown ids. */
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

/** Supported operations by path. All use POST. */
const operations: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ['/v1/submitjob', submitJob],
  ['/v1/describejobs', describeJobs],
  ['/v1/listjobs', (body, { store, surroundings }) => listJobs(ListRequest.parse(body), store, surroundings)],
  ['/v1/canceljob', (body, context) => stopJob(body, false, context)],
  ['/v1/terminatejob', (body, context) => stopJob(body, true, context)],
]);

async function answer(request: IncomingMessage, context: HttpContext): Promise<Answer> {
  const path = request.url ?? '';
  const body = await readBody(request);
  if (body === undefined) {
    const message = `The request is larger than ${maxBodyBytes} bytes`;
    return { status: 413, error: 'ClientException', body: { message } };
  }
  const { method = '', headers } = request;
  verifySignature(
    { method, path, headers, body },
    { region: context.region, service: 'batch' },
    context.credentials,
  );
  const operation = method === 'POST' ? operations.get(path) : undefined;
  if (operation === undefined) {
    return {
      status: 404,
      error: 'UnknownOperationException',
      body: { message: `There is no ${method} ${path}` },
    };
  }
  return { status: 200, body: await operation(parseBody(body), context) };
}

interface Answer {
  status: number;
  body: object;
  /** Name of the exception. */
  error?: string;
}

async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      size += chunk.length;
      if (size > maxBodyBytes) return undefined;
      chunks.push(chunk);
    }
  } catch {
    throw new BatchClientError('The request ended early');
  }
  return Buffer.concat(chunks);
}

/** Handle the parsed body of a request and return the body of the response. @throws BatchClientError, ZodError */
type Operation = (body: unknown, context: OperationContext) => object | Promise<object>;

const StopRequest = z.object({ jobId: z.string().min(1), reason: z.string().min(1).max(1024) });

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

function parseBody(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8') || '{}');
  } catch {
    throw new BatchClientError('The body of the request is not JSON');
  }
}

function refusal(thrown: unknown, requestId: string): Answer {
  if (thrown instanceof SignatureError) {
    return { status: 403, error: thrown.code, body: { message: thrown.message } };
  }
  const wrong = thrown instanceof z.ZodError ? explain(thrown) : undefined;
  const message = thrown instanceof BatchClientError ? thrown.message : wrong;
  if (message === undefined) {
    console.error(`Batch: ${thrown instanceof Error ? (thrown.stack ?? thrown.message) : thrown}`);
    return { status: 500, error: 'ServerException', body: { message: 'Internal server error' } };
  }
  const text = `Error executing request, Exception : ${message}, RequestId: ${requestId}`;
  return { status: 400, error: 'ClientException', body: { message: text } };
}

function explain(error: z.ZodError): string {
  return error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
}
