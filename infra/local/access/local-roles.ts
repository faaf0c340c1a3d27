import type { Environment, Need, Needs } from '../../../shared/core/needs.ts';
import { allNeeds } from '../../../shared/http/definition/definition.ts';
import { optimizationNeeds } from '../../../shared/runner/compression/compression-needs.ts';
import { trainingNeeds } from '../../../shared/runner/job/training-needs.ts';
import { type ResourceArns, roleStatements } from '../../service/iam-statements.ts';
import { bucketArn, tableArn } from './is-allowed.ts';
import { type Credentials, sessionCredentials } from './session-credentials.ts';

/** Return the variables that let a job's program act in its own role. */
export const jobRoleVariables = (
  program: keyof typeof jobNeeds,
  environment: Environment,
  credentials: Credentials,
): Record<string, string> => roleVariables(Object.values(jobNeeds[program]), environment, credentials);

/** Needs of the job programs. Importing the programs themselves would load them. */
const jobNeeds = {
  train: trainingNeeds,
  prune: optimizationNeeds('prune'),
  quantize: optimizationNeeds('quantize'),
} satisfies Record<string, Needs>;

/**
 * Return the variables that let the clients of a function or job act in the role that a deployment would assign.
 */
function roleVariables(
  needs: readonly Need<unknown>[],
  environment: Environment,
  credentials: Credentials,
): Record<string, string> {
  const session = sessionCredentials(credentials, roleStatements(checkedHere(needs), arnsOf(environment)));
  return {
    AWS_ACCESS_KEY_ID: session.accessKeyId,
    AWS_SECRET_ACCESS_KEY: session.secretAccessKey,
    AWS_SESSION_TOKEN: session.sessionToken,
  };
}

/**
 * Keep the needs that are enforced locally: by the S3 server, and by the proxy of the DynamoDB emulator if it
 * runs.
 */
const checkedHere = (needs: readonly Need<unknown>[]): Need<unknown>[] =>
  needs.filter(({ resource }) => resource !== 'batch');

const arnsOf = (environment: Environment): ResourceArns => ({
  accounts: tableArn(environment['ACCOUNTS_TABLE'] ?? ''),
  records: tableArn(environment['RECORDS_TABLE'] ?? ''),
  bucket: bucketArn(environment['BUCKET'] ?? ''),
  submissions: ['*'],
  jobs: ['*'],
  deployment: environment['DEPLOYMENT'] ?? '',
});

/** Return the environment of an endpoint's function, which acts in its own role. */
export const endpointEnvironment = (
  endpoint: Parameters<typeof allNeeds>[0],
  environment: Environment,
  credentials: Credentials,
): Environment => ({ ...environment, ...roleVariables(allNeeds(endpoint), environment, credentials) });

/** Return the environment of an event's function, which acts in its own role. */
export const eventEnvironment = (
  { needs }: { needs: Needs },
  environment: Environment,
  credentials: Credentials,
): Environment => ({
  ...environment,
  ...roleVariables(Object.values(needs), environment, credentials),
});
