import { readdirSync } from 'node:fs';
import { availableParallelism, devNull } from 'node:os';
import type { Credentials } from './data-folder.ts';

/** Puts the environment of functions in place of what this process was started with. */
export function enterFunctionEnvironment(own: NodeJS.ProcessEnv, access: EmulatorAccess): void {
  const variables = jobVariables(own, access);
  for (const name of Object.keys(own)) if (name.startsWith('AWS_')) delete own[name];
  Object.assign(own, { LOG_LEVEL: 'warn' }, variables, { ACCOUNTS_TABLE: accountsTable });
}

/** Region, credentials and endpoints of the emulators. */
export interface EmulatorAccess {
  region: string;
  credentials: Credentials;
  endpoints: Partial<Record<EndpointVariable, string>>;
  /** Whether functions and jobs have roles, which only the S3 server of this service supports. */
  hasRoles: boolean;
}

/** Variables with which each emulator can be replaced by another real one. */
const endpointVariables = ['DYNAMODB_ENDPOINT', 'S3_ENDPOINT', 'BATCH_ENDPOINT'] as const;

type EndpointVariable = (typeof endpointVariables)[number];

/** Variables that a deployment sets as it likes, handed on as they are. */
const passed = /^(LIMIT_[A-Z_]+|REGISTRATION|SHARED_CLUSTER|PACKAGE_INDEXES|LOG_LEVEL)$/;

/** Environment of a job: what a function gets, but not the name of the accounts table. */
export function jobVariables(own: Variables, access: EmulatorAccess): Record<string, string> {
  const settings = Object.entries(own).filter(
    (entry): entry is [string, string] => passed.test(entry[0]) && entry[1] !== undefined,
  );
  return {
    ...localSettings(),
    ...Object.fromEntries(settings),
    ...access.endpoints,
    AWS_REGION: access.region,
    AWS_ACCESS_KEY_ID: access.credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: access.credentials.secretAccessKey,
    // Settings of this machine for other AWS accounts are removed.
    AWS_CONFIG_FILE: devNull,
    AWS_SHARED_CREDENTIALS_FILE: devNull,
    AWS_EC2_METADATA_DISABLED: 'true',
    RECORDS_TABLE: recordsTable,
    BUCKET: bucket,
  };
}

type Variables = Readonly<Record<string, string | undefined>>;

/** One's own machine limits by itself how many jobs run; any number of them may wait in line. */
const localSettings = () => ({
  LIMIT_UNFINISHED_JOBS: String(placesOfUser()),
  LIMIT_WAITING_JOBS: 'none',
  JOBS_RUN_AS: 'processes',
  GPUS: String(countGpus()),
});

/**
 * Jobs of one user that may be handed to the Batch server at once: those that can run, and two, so that the next one is
 * there when one ends. With more, one user's jobs would take all vCPUs of the deployment, and another's first job would
 * wait for the end of one that only waits itself.
 */
export const placesOfUser = (): number => jobSlots() + 2;

/** Trainings and optimizations that run at once on this machine. */
export const jobSlots = (): number => Math.max(2, availableParallelism());

/** How many GPUs programs of this machine can use: NVIDIA's driver makes a device for each. */
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

/**
 * Region, credentials and endpoints for the emulators. The starter's own AWS credentials are used only where an emulator
 * was replaced by another one; else they are ignored.
 */
export function emulatorAccess(own: Variables, made: Credentials): EmulatorAccess {
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
    credentials: given ?? made,
    endpoints,
    hasRoles: endpoints.S3_ENDPOINT === undefined,
  };
}
