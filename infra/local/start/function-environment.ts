import { readdirSync } from 'node:fs';
import { availableParallelism, devNull, totalmem } from 'node:os';
import { thisHost } from '../../../shared/host/this-host.ts';
import type { PublicStorage } from '../gateway/send.ts';
import type { Credentials } from './data-folder.ts';
import { localPrices, localSpotQueue, priceVariable, spotVariable } from './local-prices.ts';
import { localPythons } from './local-pythons.ts';

/** Replace the AWS variables of this process with the environment of functions. */
export function enterFunctionEnvironment(environment: NodeJS.ProcessEnv, access: EmulatorAccess): void {
  const variables = jobVariables(environment, access);
  for (const name of Object.keys(environment)) if (name.startsWith('AWS_')) delete environment[name];
  Object.assign(environment, { LOG_LEVEL: 'warn' }, variables, {
    ACCOUNTS_TABLE: accountsTable,
    ...(access.storage && { S3_PUBLIC_ENDPOINT: access.storage.publicUrl }),
  });
}

/** Region, credentials and endpoints of the emulators, and what this machine can do for jobs. */
export interface EmulatorAccess {
  region: string;
  credentials: Credentials;
  endpoints: Partial<Record<EndpointVariable, string>>;
  /** Whether functions and jobs have roles, which only the S3 server of this service supports. */
  hasRoles: boolean;
  /** Set if presigned URLs have an address of their own, by which others reach the S3 server. */
  storage?: PublicStorage | undefined;
  /** Settings for what limits and separates the jobs of this machine; see `settings.ts`. */
  jobSettings?: Readonly<Record<string, string>>;
}

/** Variables that replace an emulator with another server. */
const endpointVariables = ['DYNAMODB_ENDPOINT', 'S3_ENDPOINT', 'BATCH_ENDPOINT'] as const;

type EndpointVariable = (typeof endpointVariables)[number];

/** Settings of a deployment, passed on unchanged. */
const passed =
  /^(LIMIT_[A-Z_]+|DOWNLOADS_IN_BUCKET|REGISTRATION|SHARED_CLUSTER|PACKAGE_INDEXES|HOOK_HOSTS|ISSUER_HOSTS|LOG_LEVEL)$/;

/** Return the environment of a job: that of a function without the name of the accounts table. */
export function jobVariables(own: Variables, access: EmulatorAccess): Record<string, string> {
  const settings = Object.entries(own).filter(
    (entry): entry is [string, string] => passed.test(entry[0]) && entry[1] !== undefined,
  );
  const price = own[priceVariable];
  return {
    ...localSettings(),
    ...access.jobSettings,
    ...(price !== undefined && { PRICES: JSON.stringify(localPrices(price)) }),
    ...(own[spotVariable] !== undefined && { TRAIN_SPOT_QUEUE: localSpotQueue }),
    ...Object.fromEntries(settings),
    ...access.endpoints,
    AWS_REGION: access.region,
    AWS_ACCESS_KEY_ID: access.credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: access.credentials.secretAccessKey,
    // Hide the settings of this machine for other AWS accounts.
    AWS_CONFIG_FILE: devNull,
    AWS_SHARED_CREDENTIALS_FILE: devNull,
    AWS_EC2_METADATA_DISABLED: 'true',
    RECORDS_TABLE: recordsTable,
    BUCKET: bucket,
  };
}

type Variables = Readonly<Record<string, string | undefined>>;

/** Settings of a local run. The machine itself limits how many jobs run, and any number may wait. */
const localSettings = () => ({
  LIMIT_UNFINISHED_JOBS: String(placesOfUser()),
  LIMIT_WAITING_JOBS: 'none',
  JOBS_RUN_AS: 'processes',
  GPUS: String(countGpus()),
  LIMIT_SERVING_MEMORY: String(Math.min(3008, Math.floor(totalmem() / 2 ** 21))),
});

/**
 * Number of jobs that one user may have in the Batch server at once: the running ones and two more, so that the
 * next job is ready when one ends. With more, one user's jobs would take all vCPUs of the deployment, and another
 * user's first job would wait behind queued jobs.
 */
export const placesOfUser = (): number => jobSlots() + 2;

/** Number of trainings and optimizations that run at once on this machine. */
export const jobSlots = (): number => Math.max(2, availableParallelism());

/** Count the GPUs that programs of this machine can use. The NVIDIA driver creates one device file for each. */
export function countGpus(folder = '/dev'): number {
  try {
    return readdirSync(folder).filter((name) => /^nvidia\d+$/.test(name)).length;
  } catch {
    return 0;
  }
}

export const recordsTable = 'records';

export const bucket = 'projects';

export const accountsTable = 'accounts';

/** Find out what limits and separates the jobs of this machine, and which versions of Python they can have. */
export async function jobSettings(own: Variables): Promise<Record<string, string>> {
  const separation = thisHost.canSandbox() ? 'sandbox' : process.getuid?.() === 0 ? 'user' : 'none';
  const [canWatch, pythons] = await Promise.all([thisHost.canWatchMemory(), localPythons(own)]);
  return {
    JOBS_MEMORY: canWatch ? 'watched' : 'not enforced',
    JOBS_SEPARATION: separation,
    PYTHON_VERSIONS: pythons,
  };
}

/**
 * Return region, credentials and endpoints for the emulators. Use the AWS credentials of the starting user only if
 * a variable replaces an emulator; otherwise ignore them.
 */
export function emulatorAccess(own: Variables, credentials: Credentials): EmulatorAccess {
  const endpoints: EmulatorAccess['endpoints'] = {};
  for (const name of endpointVariables) {
    const value = own[name];
    if (value !== undefined && value !== '') endpoints[name] = value;
  }
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = own;
  const isReplaced = Object.keys(endpoints).length > 0;
  const given = isReplaced && accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : undefined;
  return {
    region: (isReplaced && own['AWS_REGION']) || 'us-east-1',
    credentials: given ?? credentials,
    endpoints,
    hasRoles: endpoints.S3_ENDPOINT === undefined,
  };
}
