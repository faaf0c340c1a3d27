import * as z from 'zod';
import { Capacity } from './capacity/capacity.ts';
import { CorsOrigins } from './cors-origins.ts';
import { PackageIndexes } from './package-indexes.ts';
import { type Prices, pricesSchema } from './prices.ts';
import { tryParseJson } from './text/try-parse-json.ts';

const wholeNumber = 'must be a whole number above 0';
const optionalCount = () => z.coerce.number(wholeNumber).int(wholeNumber).positive(wholeNumber).optional();
const count = (otherwise: number) => optionalCount().default(otherwise);

/**
 * A limit on jobs, or `none`. `none` becomes the largest safe integer, which is compared with stored numbers and
 * never stored.
 */
const jobCount = (otherwise: number) =>
  z.preprocess((value) => (value === 'none' ? Number.MAX_SAFE_INTEGER : value), count(otherwise));

const hostPattern = /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\]):\d{1,5}$/;

/**
 * Servers on this machine or network, as `host:port` separated by commas. A URL that names one of them may be one of
 * HTTP, and have an address that is not public. Empty by default.
 */
const HostsAndPorts = z
  .string()
  .default('')
  .transform((text) =>
    text
      .split(',')
      .map((one) => one.trim().toLowerCase())
      .filter((one) => one !== ''),
  )
  .refine(
    (hosts) => hosts.every((host) => hostPattern.test(host)),
    'must be servers as host:port, separated by commas, such as 127.0.0.1:9000',
  );

/** Issuer that signs people in. Entra's address for all tenants names no issuer: anybody with an account there could come. */
export const IssuerUrl = z
  .url({ protocol: /^https?$/, error: 'must be the URL of an issuer' })
  .refine(
    (text) => !/[{}?#]/.test(text),
    'must be a URL without a query and braces; for Entra name the tenant',
  )
  .refine(
    (text) => !/^https:\/\/login\.microsoftonline\.com\/(?:common|organizations|consumers)\b/i.test(text),
    'must name the tenant: this address admits the accounts of all',
  );

/** Maximum number of GPUs of a job if the nodes are not known. */
const maxGpus = 8;
const gpusOf = (text: string): number => (text === 'yes' ? maxGpus : text === 'no' ? 0 : Number(text));

/** Images that environments of type `docker` may name, with the job definitions that run in each image. */
const trustedImagesSchema = () =>
  z.record(z.string(), z.object({ train: z.string(), cluster: z.string(), gpu: z.string().optional() }));
type TrustedImages = z.infer<ReturnType<typeof trustedImagesSchema>>;

/** Takes a while, because it builds two dozen fields. */
const makeEnvironmentSchema = () =>
  z.object({
    AWS_REGION: z.string().min(1).default('us-east-1'),
    DEPLOYMENT: z.string().min(1).default('local'),
    ACCOUNTS_TABLE: z.string().min(1).optional(),
    RECORDS_TABLE: z.string().min(1),
    BUCKET: z.string().min(1),
    S3_ENDPOINT: z.url().optional(),
    S3_PUBLIC_ENDPOINT: z.url().optional(),
    TRAIN_QUEUE: z.string().min(1).default('train'),
    TRAIN_DEFINITION: z.string().min(1).default('train'),
    OPTIMIZE_QUEUE: z.string().min(1).default('train'),
    PRUNE_DEFINITION: z.string().min(1).default('prune'),
    QUANTIZE_DEFINITION: z.string().min(1).default('quantize'),
    CLUSTER_QUEUE: z.string().min(1).default('cluster'),
    CLUSTER_DEFINITION: z.string().min(1).default('cluster'),
    CLUSTER_GPU_QUEUE: z.string().min(1).optional(),
    GPU_QUEUE: z.string().min(1).default('gpu'),
    GPU_DEFINITION: z.string().min(1).default('gpu'),
    TRAIN_SPOT_QUEUE: z.string().min(1).optional(),
    GPU_SPOT_QUEUE: z.string().min(1).optional(),
    CAPACITY: Capacity.default('on-demand'),
    GPUS: z
      .string()
      .regex(/^(?:yes|no|\d{1,2})$/, 'must be yes, no or a number')
      .default('yes'),
    JOBS_RUN_AS: z.enum(['containers', 'processes']).default('containers'),
    JOBS_MEMORY: z.enum(['watched', 'not enforced']).default('watched'),
    JOBS_SEPARATION: z.enum(['sandbox', 'user', 'none']).optional(),
    CORS_ORIGINS: CorsOrigins,
    REGISTRATION: z.enum(['open', 'closed']).default('closed'),
    LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error']).default('info'),
    PRICES: z.string().transform(tryParseJson).pipe(pricesSchema()).optional(),
    TRUSTED_IMAGES: z.string().transform(tryParseJson).pipe(trustedImagesSchema()).optional(),
    PACKAGE_INDEXES: PackageIndexes,
    PYTHON_VERSIONS: z
      .string()
      .transform((text) => text.split(',').filter((version) => version !== ''))
      .optional(),
    DATA_SIZE_FILE: z.string().optional(),
    LIMIT_JOB_SECONDS: count(6 * 60 * 60),
    LIMIT_LOG_BYTES: count(100_000_000),
    LIMIT_ARTIFACT_BYTES: count(20_000_000_000),
    LIMIT_PROJECT_BYTES: count(1_000_000_000_000),
    LIMIT_UNFINISHED_JOBS: jobCount(4),
    LIMIT_WAITING_JOBS: jobCount(1000),
    LIMIT_VCPUS: count(16),
    LIMIT_AUDIT_DAYS: count(400),
    HOOK_HOSTS: HostsAndPorts,
    ISSUER_HOSTS: HostsAndPorts,
    HF_ENDPOINT: z.url().default('https://huggingface.co'),
    SERVICE_URL: z.url().optional(),
    OIDC_ISSUER: IssuerUrl.optional(),
    OIDC_CLIENT_ID: z.string().min(1).default('mps'),
    OIDC_CLIENT_SECRET: z.string().min(1).optional(),
    OIDC_GROUPS: z.string().min(1).default('*=guest'),
    OIDC_ONLY: z.enum(['yes', 'no']).default('no'),
    MAIL_TOPIC: z.string().startsWith('arn:').optional(),
    NOTIFY_FUNCTION: z.string().min(1).optional(),
    SCHEDULE_GROUP: z.string().min(1).optional(),
    SCHEDULE_ROLE: z.string().startsWith('arn:').optional(),
    SCHEDULE_FUNCTION: z.string().startsWith('arn:').optional(),
    SHARED_CLUSTER: z.enum(['yes', 'no']).default('no'),
    SERVING_PROGRAM: z.string().min(1).optional(),
    LIMIT_SERVING_MEMORY: count(3008),
    LIMIT_SERVING_DISK: count(4096),
    LIMIT_SERVING_CONCURRENCY: optionalCount(),
    LIMIT_CONCURRENT_FUNCTIONS: optionalCount(),
  });

let madeSchema: ReturnType<typeof makeEnvironmentSchema> | undefined;

/** Build the schema at its first use, to keep the import of this module fast. */
const environmentSchema = () => {
  madeSchema ??= makeEnvironmentSchema();
  return madeSchema;
};

/**
 * Name of the variable with the settings that all functions of a deployment share, one `NAME=value` a line. A template
 * says them once, and its functions refer to them.
 */
export const sharedSettings = 'SETTINGS';

/** Return the environment with the shared settings as variables; a variable of its own comes before them. */
function withShared(environment: Readonly<Record<string, string | undefined>>) {
  const lines = environment[sharedSettings]?.split('\n') ?? [];
  const shared = lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]);
  return { ...Object.fromEntries(shared), ...environment };
}

/** Names of the environment variables of the settings. */
export const settingNames = (): string[] => Object.keys(environmentSchema().shape);

/** The limits of the deployment. */
export interface Limits {
  /** Maximum duration of a job in seconds. */
  jobSeconds: number;
  /** Maximum bytes of a job's log. */
  logBytes: number;
  /** Maximum bytes of a job's artifacts. */
  artifactBytes: number;
  /** Maximum bytes of a project in the bucket. */
  projectBytes: number;
  /** Maximum number of jobs of one user that have a place at the same time. Further jobs wait in line. */
  unfinishedJobs: number;
  /** Maximum number of jobs in the waiting queue of one user. */
  waitingJobs: number;
  /** Maximum number of vCPUs that all jobs with a place use together. */
  vcpus: number;
  /** Days for which audit records are kept. */
  auditDays: number;
  /** Whether clusters of several owners run at the same time. Their nodes can reach one another. */
  sharedCluster: boolean;
}

/** Settings of a deployment, from the environment of the function or job. */
export interface Settings {
  region: string;
  /** Undefined for jobs. They never access it. */
  accountsTable: string | undefined;
  recordsTable: string;
  /** Name of the deployment. */
  deployment: string;
  bucket: string;
  /** Origin of the presigned URLs of the bucket. */
  storageOrigin: string;
  train: { queue: string; definition: string };
  /** `gpuQueue` has nodes with GPUs; `queue` has nodes without. */
  cluster: { queue: string; gpuQueue: string; definition: string };
  /** Queue and definition of trainings with GPUs on one node. */
  gpu: { queue: string; definition: string };
  /** Queues of Spot for jobs on one host, without and with GPUs; undefined where there is none. */
  spotQueues: { train: string | undefined; gpu: string | undefined };
  /** Where jobs run for which no capacity is asked. */
  capacity: Capacity;
  /** Maximum number of GPUs of a node; 0 for a deployment without GPUs. */
  gpus: number;
  /** Whether jobs run as containers or as processes of this machine. */
  jobsRunAs: 'containers' | 'processes';
  /** What limits the memory of jobs that run as processes. */
  jobsMemory: 'watched' | 'not enforced';
  /** What separates jobs that run as processes from the service; undefined if it is not known. */
  jobsSeparation: 'sandbox' | 'user' | 'none' | undefined;
  prune: { queue: string; definition: string };
  quantize: { queue: string; definition: string };
  registration: 'open' | 'closed';
  /** Origins whose pages may call the service from a browser. */
  corsOrigins: readonly string[];
  logLevel: 'debug' | 'info' | 'warn' | 'error';
  limits: Limits;
  /** The function that serves models. */
  serving: {
    /** Path of the program of a session; undefined where the sources run. */
    program: string | undefined;
    /** MiB of memory of the function, for itself and the models that it holds. */
    memory: number;
    /** MiB of its disk, for the files of models. */
    disk: number;
    /** Instances that are reserved for it; undefined if it shares those of the account. */
    concurrency: number | undefined;
  };
  /** Quota of concurrent functions of the account; undefined if it is not known. */
  concurrentFunctions: number | undefined;
  /** Prices of compute; undefined if compute is free, as on a developer's own machine. */
  prices: Prices | undefined;
  /** Undefined if environments may name any image, as on a developer's own machine. */
  trustedImages: TrustedImages | undefined;
  /** Package indexes that dependencies may name: hosts, or `http://host:port`. */
  packageIndexes: readonly string[];
  /** Receivers of hooks as `host:port` that may have any address, also by HTTP. */
  hookHosts: readonly string[];
  /** Issuers of identity tokens as `host:port` that may have any address, also by HTTP. */
  issuerHosts: readonly string[];
  /** Address of the Hub of models, unless a project has another one. */
  modelHub: string;
  /** Issuer that signs people in; undefined if they have passwords only. */
  oidc:
    | {
        issuer: string;
        clientId: string;
        /** Undefined for a public client, which PKCE protects. */
        clientSecret: string | undefined;
        /** Account types by groups, such as `ml-admins=admin,*=viewer`. */
        groups: string;
        /** Whether passwords count for the first admin alone. */
        isOnly: boolean;
      }
    | undefined;
  /** URL of this service; undefined on AWS, where API Gateway states it with each request. */
  serviceUrl: string | undefined;
  /** ARN of the topic of SNS to which hooks of the format `mail` publish; undefined if there is none. */
  mailTopic: string | undefined;
  /** Name of the function that sends messages of hooks; undefined if a timer does. */
  notifyFunction: string | undefined;
  /** Timers of schedules: their group, the role that starts the function, and its ARN; undefined where the service looks itself. */
  scheduleTimers: { group: string; role: string; target: string } | undefined;
  /** Versions of Python that jobs can use; undefined if they are not known. */
  pythonVersions: readonly string[] | undefined;
  /** File with the size of the data folder; undefined if the service has none. */
  dataSizeFile: string | undefined;
}

/** Return the domain of AWS's services in a region. */
export const serviceDomain = (region: string): string =>
  region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';

/** S3 gives each bucket its own host. Other endpoints serve the bucket below a path. */
const storageOrigin = (value: {
  S3_ENDPOINT?: string | undefined;
  S3_PUBLIC_ENDPOINT?: string | undefined;
  BUCKET: string;
  AWS_REGION: string;
}): string =>
  value.S3_ENDPOINT === undefined
    ? `https://${value.BUCKET}.s3.${value.AWS_REGION}.${serviceDomain(value.AWS_REGION)}`
    : new URL(value.S3_PUBLIC_ENDPOINT ?? value.S3_ENDPOINT).origin;

/** Return the timers of schedules, which need all three of their variables. */
function timersOf({
  SCHEDULE_GROUP: group,
  SCHEDULE_ROLE: role,
  SCHEDULE_FUNCTION: target,
}: Partial<Record<'SCHEDULE_GROUP' | 'SCHEDULE_ROLE' | 'SCHEDULE_FUNCTION', string | undefined>>) {
  return group === undefined || role === undefined || target === undefined
    ? undefined
    : { group, role, target };
}

/** Read the settings. Throws an error that names every missing or invalid variable. */
export function readSettings(environment: Readonly<Record<string, string | undefined>>): Settings {
  const parsed = environmentSchema().safeParse(withShared(environment));
  if (!parsed.success) {
    const faults = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
    throw new Error(`invalid environment: ${faults.join('; ')}`);
  }
  const value = parsed.data;
  return {
    region: value.AWS_REGION,
    accountsTable: value.ACCOUNTS_TABLE,
    recordsTable: value.RECORDS_TABLE,
    deployment: value.DEPLOYMENT,
    bucket: value.BUCKET,
    storageOrigin: storageOrigin(value),
    train: { queue: value.TRAIN_QUEUE, definition: value.TRAIN_DEFINITION },
    cluster: {
      queue: value.CLUSTER_QUEUE,
      gpuQueue: value.CLUSTER_GPU_QUEUE ?? value.CLUSTER_QUEUE,
      definition: value.CLUSTER_DEFINITION,
    },
    gpu: { queue: value.GPU_QUEUE, definition: value.GPU_DEFINITION },
    spotQueues: { train: value.TRAIN_SPOT_QUEUE, gpu: value.GPU_SPOT_QUEUE },
    capacity: value.CAPACITY,
    gpus: gpusOf(value.GPUS),
    jobsRunAs: value.JOBS_RUN_AS,
    jobsMemory: value.JOBS_MEMORY,
    jobsSeparation: value.JOBS_SEPARATION,
    prune: { queue: value.OPTIMIZE_QUEUE, definition: value.PRUNE_DEFINITION },
    quantize: { queue: value.OPTIMIZE_QUEUE, definition: value.QUANTIZE_DEFINITION },
    registration: value.REGISTRATION,
    corsOrigins: value.CORS_ORIGINS,
    logLevel: value.LOG_LEVEL,
    prices: value.PRICES,
    trustedImages: value.TRUSTED_IMAGES,
    packageIndexes: value.PACKAGE_INDEXES,
    hookHosts: value.HOOK_HOSTS,
    issuerHosts: value.ISSUER_HOSTS,
    modelHub: value.HF_ENDPOINT,
    oidc:
      value.OIDC_ISSUER === undefined
        ? undefined
        : {
            issuer: value.OIDC_ISSUER,
            clientId: value.OIDC_CLIENT_ID,
            clientSecret: value.OIDC_CLIENT_SECRET,
            groups: value.OIDC_GROUPS,
            isOnly: value.OIDC_ONLY === 'yes',
          },
    serviceUrl: value.SERVICE_URL?.replace(/\/+$/, ''),
    mailTopic: value.MAIL_TOPIC,
    notifyFunction: value.NOTIFY_FUNCTION,
    scheduleTimers: timersOf(value),
    pythonVersions: value.PYTHON_VERSIONS,
    dataSizeFile: value.DATA_SIZE_FILE,
    concurrentFunctions: value.LIMIT_CONCURRENT_FUNCTIONS,
    serving: {
      program: value.SERVING_PROGRAM,
      memory: value.LIMIT_SERVING_MEMORY,
      disk: value.LIMIT_SERVING_DISK,
      concurrency: value.LIMIT_SERVING_CONCURRENCY,
    },
    limits: {
      jobSeconds: value.LIMIT_JOB_SECONDS,
      logBytes: value.LIMIT_LOG_BYTES,
      artifactBytes: value.LIMIT_ARTIFACT_BYTES,
      projectBytes: value.LIMIT_PROJECT_BYTES,
      unfinishedJobs: value.LIMIT_UNFINISHED_JOBS,
      waitingJobs: value.LIMIT_WAITING_JOBS,
      vcpus: value.LIMIT_VCPUS,
      auditDays: value.LIMIT_AUDIT_DAYS,
      sharedCluster: value.SHARED_CLUSTER === 'yes',
    },
  };
}
