import { devNull } from 'node:os';
import type { Credentials } from './data-folder.ts';
import { countGpus } from './gpus.ts';
import { placesOfUser } from './job-slots.ts';

type Variables = Readonly<Record<string, string | undefined>>;

export const accountsTable = 'accounts';
export const recordsTable = 'records';
export const bucket = 'projects';

/** Variables with which each engine can be replaced by another real one. */
const endpointVariables = ['DYNAMODB_ENDPOINT', 'S3_ENDPOINT', 'BATCH_ENDPOINT'] as const;
export type EndpointVariable = (typeof endpointVariables)[number];

/** Region, credentials and endpoints of the engines. */
export interface EngineAccess {
  region: string;
  credentials: Credentials;
  endpoints: Partial<Record<EndpointVariable, string>>;
  /** Whether functions and jobs have roles, which only the S3 server of this service supports. */
  hasRoles: boolean;
}

/**
 * Region, credentials and endpoints for the engines. The starter's own AWS credentials are used only where an engine
 * was replaced by another one; else they are ignored.
 */
export function engineAccess(own: Variables, made: Credentials): EngineAccess {
  const endpoints: EngineAccess['endpoints'] = {};
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

/** Variables that a deployment sets as it likes, handed on as they are. */
const passed = /^(LIMIT_[A-Z_]+|REGISTRATION|SHARED_CLUSTER|PACKAGE_INDEXES|LOG_LEVEL)$/;

/** One's own machine limits by itself how many jobs run; any number of them may wait in line. */
const localSettings = () => ({
  LIMIT_UNFINISHED_JOBS: String(placesOfUser()),
  LIMIT_WAITING_JOBS: 'none',
  JOBS_RUN_AS: 'processes',
  GPUS: String(countGpus()),
});

/** Environment of a job: what a function gets, but not the name of the accounts table. */
export function jobVariables(own: Variables, access: EngineAccess): Record<string, string> {
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

/** Puts the environment of functions in place of what this process was started with. */
export function enterFunctionEnvironment(own: NodeJS.ProcessEnv, access: EngineAccess): void {
  const variables = jobVariables(own, access);
  for (const name of Object.keys(own)) if (name.startsWith('AWS_')) delete own[name];
  Object.assign(own, { LOG_LEVEL: 'warn' }, variables, { ACCOUNTS_TABLE: accountsTable });
}
