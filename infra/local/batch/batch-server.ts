import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { thisHost } from '../../../shared/host/this-host.ts';
import { killTree, type ProcessSelector, processStartTime } from '../../../shared/process/process-tree.ts';
import type { Credentials } from '../access/session-credentials.ts';
import { catalogueOf, type LocalJobDefinition, type LocalQueue } from './catalogue.ts';
import { type Surroundings, stateChangeEvent } from './describe-job.ts';
import { answerRequest } from './http-interface.ts';
import type { ContainerStart, StartFailure } from './jobs/attempt.ts';
import { attemptEnded, nodeEnded } from './jobs/job-life.ts';
import { markerName, nodeId, removeLogs } from './jobs/job-process.ts';
import { type BatchJobStateChangeEvent, hasEnded, isActive, type JobRecord } from './jobs/job-record.ts';
import { JobStore } from './jobs/job-store.ts';
import { Outbox } from './jobs/outbox.ts';
import { Scheduler } from './scheduler.ts';

/**
 * Start a server of the AWS Batch protocol that runs jobs as local processes. First end processes that an earlier
 * server on the same folder left running. Waiting jobs continue to wait.
 * @throws errors of listening, and ZodError for a job definition that AWS Batch would refuse
 */
export async function startBatchServer(options: BatchServerOptions): Promise<RunningBatch> {
  const {
    region,
    credentials,
    queues,
    logFolder,
    minimumTimeoutSeconds = 60,
    hostEnvironment = {},
    roleEnvironment = () => ({}),
  } = options;
  const catalogue = catalogueOf(region, queues, options.jobDefinitions);
  const surroundings: Surroundings = { catalogue, reasonToWait: (job) => scheduler.reasonToWait(job) };
  const outbox = new Outbox(options.deliver, (event) => store.acknowledge(event));
  const store: JobStore = new JobStore(
    join(options.folder, 'jobs'),
    (job) => stateChangeEvent(job, randomUUID(), new Date(), surroundings),
    (event) => outbox.post(event),
  );
  const stopGraceMs = (options.stopGraceSeconds ?? 30) * 1000;
  const scheduler = new Scheduler(queues, catalogue.findDefinition, {
    store,
    logFolder,
    stopGraceMs,
    hostEnvironment,
    startFailure: options.startFailure,
    roleEnvironment,
  });
  const context = { store, scheduler, surroundings, minimumTimeoutSeconds, region, credentials };
  let loaded: Promise<void> | undefined;
  const server = createServer((request, response) => {
    // If the jobs cannot be loaded, the start fails, and so do earlier requests.
    Promise.resolve(loaded)
      .then(() => answerRequest(request, response, context))
      .catch(() => response.destroy());
  });
  // Longer than clients keep an idle connection, so the server closes none while a request is on its way.
  server.keepAliveTimeout = 120_000;
  server.requestTimeout = 30_000;
  // Take the port first: a second server on the same folder must fail before it changes anything.
  const url = await listen(server, options.port, options.host ?? '127.0.0.1');
  try {
    loaded = load(store, outbox, scheduler);
    await loaded;
  } catch (error) {
    server.close();
    server.closeAllConnections();
    throw error;
  }
  await cleanUp(store, logFolder);
  const cleaning = setInterval(() => void cleanUp(store, logFolder), cleanUpEveryMs);
  cleaning.unref();
  return {
    url,
    async close({ grace = 25 } = {}) {
      clearInterval(cleaning);
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeIdleConnections();
      store.stopInsisting();
      await scheduler.close(grace * 1000);
      await outbox.close(lastDeliveriesMs);
      await store.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

export interface BatchServerOptions {
  /** Folder of the jobs. Only this server may use it. */
  folder: string;
  /** 0 for any free port. */
  port: number;
  /** Default 127.0.0.1. */
  host?: string;
  region: string;
  credentials: Credentials;
  queues: readonly LocalQueue[];
  jobDefinitions: readonly LocalJobDefinition[];
  /**
   * Receives every event at least once. If it throws, the server delivers the event again later, also after a
   * restart.
   */
  deliver(event: BatchJobStateChangeEvent): Promise<void>;
  /** Folder for the output of the jobs' processes. Without it the server drops the output. */
  logFolder?: string;
  /**
   * Variables that this host adds to every job's process, as the role and the network do on AWS. The server reads
   * them when a process starts. It neither stores nor describes them, so they may contain credentials.
   */
  hostEnvironment?: Readonly<Record<string, string>>;
  /** For tests: return how the host fails to start a container, or undefined if it starts the container. */
  startFailure?: (start: ContainerStart) => StartFailure | undefined;
  /** Variables that the role of a job definition adds to its jobs' processes. */
  roleEnvironment?(definition: string): Readonly<Record<string, string>>;
  /** Minimum timeout of a job in seconds; default 60, as on AWS. */
  minimumTimeoutSeconds?: number;
  /** Seconds between SIGTERM and SIGKILL; default 30, as on AWS. */
  stopGraceSeconds?: number;
}

export interface RunningBatch {
  url: string;
  /**
   * Stop the server. Running jobs get SIGTERM and, `grace` seconds (default 25) later, SIGKILL. They count as lost
   * with their host, so the next start retries them if their retry rules allow it.
   */
  close(options?: { grace?: number }): Promise<void>;
}

async function listen(server: Server, port: number, host: string): Promise<string> {
  server.listen(port, host);
  await once(server, 'listening');
  server.on('error', (error) => console.error(`Batch: ${error}`));
  const address = server.address();
  const bound = typeof address === 'object' ? address?.port : port;
  return `http://${host.includes(':') ? `[${host}]` : host}:${bound}`;
}

async function load(store: JobStore, outbox: Outbox, scheduler: Scheduler): Promise<void> {
  await store.load();
  for (const { events } of store.all()) for (const event of events) outbox.post(event);
  await endAbandonedAttempts(store);
  for (const { id } of [...store.all()]) scheduler.accept(id);
}

const restartedReason = 'Host EC2 (local) terminated: the local Batch server was restarted.';

/**
 * End the attempts of a dead server, and kill their processes. Such an attempt counts as lost with its host,
 * unless the end of its main node was recorded.
 */
async function endAbandonedAttempts(store: JobStore): Promise<void> {
  for (const job of [...store.all()].filter(isActive)) {
    for (const [index] of job.nodes.entries()) await killNode(job, index);
    await store.change(job.id, (present) => {
      const now = Date.now();
      const lost = present.nodes
        .map((node, index) => ({ node, index }))
        .filter(({ node, index }) => !hasEnded(node) && (index === 0 || isActive(node)))
        .reduce((next, { index }) => nodeEnded(next, index, { statusReason: restartedReason }, now), present);
      return attemptEnded(lost, now);
    });
  }
}

async function killNode(job: JobRecord, index: number): Promise<void> {
  const run = job.nodes[index]?.process;
  const marker = { name: markerName, value: nodeId(job, index) };
  // The system may have reused the pid. Its group and session are safe to use only if it has not.
  const present = run?.startTime == null ? null : await processStartTime(run.pid);
  const same = run?.startTime != null && present !== null && thisHost.isSameStart(present, run.startTime);
  const selector: ProcessSelector = same
    ? { root: run.pid, group: run.pid, session: run.pid, marker }
    : { marker };
  try {
    await killTree(selector);
  } catch (error) {
    console.error(`Batch: processes of ${marker.value} remain: ${error}`);
  }
}

/** How long ended jobs are kept, in milliseconds. AWS Batch keeps them at least as long. */
const keptMs = 24 * 3600 * 1000;

/** Remove jobs one day after their end, or one week after it if they have undelivered events. */
async function cleanUp(store: JobStore, logFolder: string | undefined): Promise<void> {
  const now = Date.now();
  for (const job of [...store.all()]) {
    const age = now - (job.nodes[0].stoppedAt ?? now);
    if (!hasEnded(job) || age < (job.events.length > 0 ? 7 * keptMs : keptMs)) continue;
    try {
      await store.remove(job.id);
      if (logFolder !== undefined) await removeLogs(logFolder, `${job.id}.`);
    } catch (error) {
      console.error(`Batch: job ${job.id} could not be removed: ${error}`);
    }
  }
}

const cleanUpEveryMs = 10 * 60 * 1000;

const lastDeliveriesMs = 2_000;
