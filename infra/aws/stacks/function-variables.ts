import { ArnFormat, CfnMapping, SecretValue, type Stack, Token } from 'aws-cdk-lib';
import type { Need } from '../../../shared/core/needs.ts';
import { sharedSettings } from '../../../shared/core/settings.ts';
import { CommandError } from '../../command/command-error.ts';
import { computePrices } from '../cost/price-list.ts';
import type { DeploymentOptions } from '../options/deployment-options.ts';
import type { BatchNames } from './batch-names.ts';

/** Return the variables of every function. */
export function functionVariables(
  stores: Stores,
  names: BatchNames,
  options: DeploymentOptions,
): Record<string, string> {
  return withinLambda({
    ...jobVariables(stores, options),
    DEPLOYMENT: options.name,
    NOTIFY_FUNCTION: calledName(options, 'notify'),
    ACCOUNTS_TABLE: stores.accounts.tableName,
    TRAIN_QUEUE: names.trainQueue,
    TRAIN_SPOT_QUEUE: names.trainSpotQueue,
    TRAIN_DEFINITION: names.definition('train'),
    CAPACITY: options.spot ? 'spot-then-on-demand' : 'on-demand',
    OPTIMIZE_QUEUE: names.trainQueue,
    PRUNE_DEFINITION: names.definition('prune'),
    QUANTIZE_DEFINITION: names.definition('quantize'),
    CLUSTER_QUEUE: names.clusterQueue,
    CLUSTER_DEFINITION: names.clusterDefinition,
    ...(names.gpu === undefined
      ? { GPUS: 'no' }
      : {
          GPUS: 'yes',
          GPU_QUEUE: names.gpu.queue,
          GPU_SPOT_QUEUE: names.gpu.spotQueue,
          GPU_DEFINITION: names.gpu.definition,
          CLUSTER_GPU_QUEUE: names.gpu.clusterQueue,
        }),
    REGISTRATION: options.registration,
    PYTHON_VERSIONS: imagePythons,
    TRUSTED_IMAGES: JSON.stringify(
      Object.fromEntries(names.trusted.map(({ image, ...definitions }) => [image, definitions])),
    ),
    PRICES: JSON.stringify(computePrices(options)),
    LIMIT_UNFINISHED_JOBS: String(options.limitUnfinishedJobs),
    LIMIT_WAITING_JOBS: String(options.limitWaitingJobs),
    LIMIT_VCPUS: String(options.limitVcpus),
    LIMIT_AUDIT_DAYS: String(options.auditDays),
    SERVING_PROGRAM: '/var/task/session-program.mjs',
    LIMIT_SERVING_MEMORY: String(options.servingMemory),
    // Room for the file system itself.
    LIMIT_SERVING_DISK: String(Math.floor(options.servingDisk * 0.95)),
    ...(options.servingConcurrency !== undefined && {
      LIMIT_SERVING_CONCURRENCY: String(options.servingConcurrency),
    }),
    ...(options.concurrentFunctions !== undefined && {
      LIMIT_CONCURRENT_FUNCTIONS: String(options.concurrentFunctions),
    }),
    SHARED_CLUSTER: options.sharedCluster ? 'yes' : 'no',
    ...(options.oidcIssuer !== undefined && {
      OIDC_ISSUER: options.oidcIssuer,
      OIDC_CLIENT_ID: options.oidcClientId,
      OIDC_GROUPS: options.oidcGroups,
      OIDC_ONLY: options.oidcOnly ? 'yes' : 'no',
    }),
    ...(stores.mailTopic !== undefined && { MAIL_TOPIC: stores.mailTopic }),
    ...(options.corsOrigins.length > 0 && { CORS_ORIGINS: options.corsOrigins.join(',') }),
  });
}

/**
 * Return the variables of an endpoint's function alone. Those that sign people in have the secret of the client at the issuer. The
 * template names it, and CloudFormation reads it.
 */
export const ownVariables = (
  { path }: { path: string },
  { oidcIssuer, oidcClientSecret }: DeploymentOptions,
): Record<string, string> =>
  path.startsWith('/auth/oidc/') && oidcIssuer !== undefined && oidcClientSecret !== undefined
    ? { OIDC_CLIENT_SECRET: SecretValue.secretsManager(oidcClientSecret).unsafeUnwrap() }
    : {};

/**
 * Return the variables with those that CloudFormation need not resolve as one, which a mapping of the stack has. 290
 * functions with each of them would fill a template, which may have 1 MB.
 */
export function saidOnce(stack: Stack, variables: Readonly<Record<string, string>>): Record<string, string> {
  const isOwn = ([name, value]: [string, string]) => name === 'CORS_ORIGINS' || Token.isUnresolved(value);
  const shared = Object.entries(variables).filter((variable) => !isOwn(variable));
  const text = shared.map(([name, value]) => `${name}=${value}`).join('\n');
  if (text.split('\n').length !== shared.length) throw new Error('a setting must be one line');
  const mapping = new CfnMapping(stack, 'Settings', { mapping: { Functions: { Shared: text } } });
  return {
    ...Object.fromEntries(Object.entries(variables).filter(isOwn)),
    [sharedSettings]: mapping.findInMap('Functions', 'Shared'),
  };
}

/**
 * The version of Python that the base of `job-image/Dockerfile` installs, Debian 13's, and those that the uv of
 * `shared/runner/environment/install/uv-pin.ts` downloads (`uv python list --only-downloads`).
 */
const imagePythons = '3.13.5,3.15.2,3.14.10,3.13.18,3.12.16,3.11.18,3.10.22,3.9.25,3.8.20';

/** Return the name of a task's function that functions call. */
export const calledName = ({ name }: Pick<DeploymentOptions, 'name'>, task: string): string =>
  `${name}-${task}`;

/** Return the ARN of a task's function, by its name: no stack imports it from the one that has it. */
const calledArn = (stack: Stack, options: Pick<DeploymentOptions, 'name'>, task: string): string =>
  stack.formatArn({
    service: 'lambda',
    resource: 'function',
    resourceName: calledName(options, task),
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });

/** Return the ARN of the function that sends messages of hooks. */
export const notifyArn = (stack: Stack, options: Pick<DeploymentOptions, 'name'>): string =>
  calledArn(stack, options, 'notify');

/** Timers of schedules: their group, the role that they take, and the function that they start. Known by name, as {@link calledArn}. */
export function timersOf(stack: Stack, options: Pick<DeploymentOptions, 'name'>): TimerArns {
  const { name: group } = options;
  return {
    group,
    schedules: stack.formatArn({ service: 'scheduler', resource: 'schedule', resourceName: `${group}/*` }),
    role: stack.formatArn({
      service: 'iam',
      region: '',
      resource: 'role',
      resourceName: timerRoleName(stack, options),
    }),
    target: calledArn(stack, options, 'schedules'),
  };
}

/** Return the name of the role that timers take. Roles are known in all regions. */
export const timerRoleName = (stack: Stack, { name }: Pick<DeploymentOptions, 'name'>): string =>
  `${name}-timers-${stack.region}`;

export interface TimerArns {
  group: string;
  schedules: string;
  role: string;
  target: string;
}

/** Return the variables of a function that sets timers; none for another one: in every function they would fill the templates. */
export const timerVariables = (
  needs: readonly Pick<Need<unknown>, 'resource'>[],
  { group, role, target }: TimerArns,
): Record<string, string> =>
  needs.some(({ resource }) => resource === 'timers')
    ? { SCHEDULE_GROUP: group, SCHEDULE_ROLE: role, SCHEDULE_FUNCTION: target }
    : {};

interface Stores {
  accounts: { tableName: string };
  records: { tableName: string };
  bucket: { bucketName: string };
  /** ARN of the topic of mails. */
  mailTopic: string | undefined;
}

/** Maximum bytes of a Lambda function's variables: names and values as JSON. */
const maxVariableBytes = 4096;

/** Options that the longest variables come from. */
const madeOf: Readonly<Record<string, string>> = {
  TRUSTED_IMAGES: 'trustedImages',
  PRICES: 'clusterInstanceTypes and gpuInstanceTypes',
  PACKAGE_INDEXES: 'packageIndexes',
  CORS_ORIGINS: 'corsOrigins',
};

/**
 * Return the variables. @throws CommandError if they exceed Lambda's limit, which Lambda reports only late in a
 * deployment
 */
function withinLambda(variables: Record<string, string>): Record<string, string> {
  const bytes = bytesOf(variables);
  if (bytes <= maxVariableBytes) return variables;
  const shares = Object.entries(madeOf)
    .flatMap(([name, options]) => {
      const value = variables[name];
      return value === undefined ? [] : [{ options, bytes: bytesOf({ [name]: value }) }];
    })
    .sort((a, b) => b.bytes - a.bytes)
    .map((one) => `${one.options} ${one.bytes}`);
  throw new CommandError(
    `The variables of a function have ${bytes} bytes, but Lambda allows ${maxVariableBytes}. Shorten ${shares.join(', ')}.`,
  );
}

/** Placeholder for a name that CloudFormation generates, or for that of an adopted table or bucket. */
const nameToCome = 'x'.repeat(128);

const bytesOf = (variables: Readonly<Record<string, string>>): number =>
  Buffer.byteLength(
    JSON.stringify(variables, (_, value) => (Token.isUnresolved(value) ? nameToCome : value)),
  );

/** Return the variables that functions and jobs share. `shared/core/settings.ts` reads them. */
export function jobVariables(
  { records, bucket }: Pick<Stores, 'records' | 'bucket'>,
  options: DeploymentOptions,
): Record<string, string> {
  return {
    RECORDS_TABLE: records.tableName,
    BUCKET: bucket.bucketName,
    LOG_LEVEL: options.logLevel,
    PACKAGE_INDEXES: options.packageIndexes.join(','),
    LIMIT_JOB_SECONDS: String(options.limitJobSeconds),
    LIMIT_LOG_BYTES: String(options.limitLogBytes),
    LIMIT_ARTIFACT_BYTES: String(options.limitArtifactBytes),
    LIMIT_PROJECT_BYTES: String(options.limitProjectBytes),
  };
}
