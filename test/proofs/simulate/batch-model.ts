import {
  CancelJobCommand,
  DescribeJobsCommand,
  ListJobsCommand,
  SubmitJobCommand,
  TerminateJobCommand,
} from '@aws-sdk/client-batch';
import type { LimitFacts, Meter } from './meter.ts';
import type { VirtualClock } from './virtual-clock.ts';

/*
 * AWS Batch as documented: 50 submissions a second of an account, a limit that cannot be raised. For its other calls
 * no rate is published; the same is assumed for each.
 */
const callsOf = (call: string): LimitFacts => ({ kind: `Batch: ${call}`, most: 50 });
const callMilliseconds = 90;
const sdkTries = 3;
const sdkPause = 100;

export interface ModelJob {
  jobId: string;
  jobName: string;
  jobQueue: string;
  status: 'SUBMITTED' | 'RUNNABLE' | 'STARTING' | 'RUNNING' | 'SUCCEEDED' | 'FAILED';
  environment: Readonly<Record<string, string>>;
  /** Attempts that have ended, as Batch describes them. */
  attempts: {
    startedAt?: number;
    stoppedAt: number;
    statusReason: string;
    container: { exitCode?: number };
  }[];
  statusReason?: string;
  retryStrategy: { attempts: number };
  createdAt: number;
}

/** The part of a Batch client that `shared/aws` uses. The simulation runs the jobs. */
export class BatchModel {
  readonly jobs = new Map<string, ModelJob>();
  /** Submissions under a name that another one of its queue has already. */
  repeated = 0;
  readonly #byName = new Map<string, ModelJob>();
  readonly #clock: VirtualClock;
  readonly #meter: Meter;
  readonly #run: (job: ModelJob) => void;

  constructor(clock: VirtualClock, meter: Meter, run: (job: ModelJob) => void) {
    this.#clock = clock;
    this.#meter = meter;
    this.#run = run;
  }

  async #call(name: string): Promise<void> {
    for (let tried = 1; ; tried += 1) {
      await this.#clock.sleep(callMilliseconds);
      if (this.#meter.take(callsOf(name), name, 1)) return;
      if (tried === sdkTries)
        throw Object.assign(new Error('Too Many Requests'), { name: 'TooManyRequestsException' });
      await this.#clock.sleep(Math.random() * sdkPause * 2 ** tried);
    }
  }

  #submit({
    jobName = '',
    jobQueue = '',
    containerOverrides,
    retryStrategy,
  }: SubmitJobCommand['input']): ModelJob {
    const variables = containerOverrides?.environment ?? [];
    const job: ModelJob = {
      jobId: `job-${this.jobs.size}`,
      jobName,
      jobQueue,
      status: 'SUBMITTED',
      attempts: [],
      retryStrategy: { attempts: retryStrategy?.attempts ?? 10 },
      createdAt: this.#clock.now,
      environment: Object.fromEntries(variables.map(({ name = '', value = '' }) => [name, value])),
    };
    this.jobs.set(job.jobId, job);
    const name = `${jobQueue}/${jobName}`;
    if (this.#byName.has(name)) this.repeated += 1;
    this.#byName.set(name, job);
    this.#run(job);
    return job;
  }

  /** Do what a command of the client asks for. */
  readonly send = async (command: unknown): Promise<unknown> => {
    if (command instanceof SubmitJobCommand) {
      await this.#call('SubmitJob');
      return { jobId: this.#submit(command.input).jobId };
    }
    if (command instanceof DescribeJobsCommand) {
      await this.#call('DescribeJobs');
      return { jobs: (command.input.jobs ?? []).flatMap((id) => this.jobs.get(id) ?? []) };
    }
    if (command instanceof ListJobsCommand) {
      await this.#call('ListJobs');
      const { jobQueue, filters } = command.input;
      const job = this.#byName.get(`${jobQueue}/${filters?.[0]?.values?.[0]}`);
      return { jobSummaryList: job === undefined ? [] : [job] };
    }
    if (command instanceof TerminateJobCommand || command instanceof CancelJobCommand) {
      await this.#call('TerminateJob');
      return {};
    }
    throw new Error('the model of Batch knows no such command');
  };
}
