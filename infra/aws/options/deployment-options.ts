import * as z from 'zod';
import { groupRules } from '../../../shared/accounts/oidc/group-rules.ts';
import { CorsOrigins } from '../../../shared/core/cors-origins.ts';
import { PackageIndexes } from '../../../shared/core/package-indexes.ts';
import { IssuerUrl } from '../../../shared/core/settings.ts';
import { CommandError } from '../../command/command-error.ts';
import { instances } from './instances.ts';
import { burstFor } from './request-burst.ts';

const yesOrNo = z.union([z.boolean(), z.stringbool()]);

const whole = (least: number, most: number) => z.coerce.number().int().min(least).max(most);

/** A list in cdk.json, or comma-separated text on the command line. */
const list = <S extends z.ZodType>(item: S) =>
  z.preprocess(
    (given) => (typeof given === 'string' ? given.split(',').filter((one) => one.trim() !== '') : given),
    z.array(item),
  );

/**
 * Size of the root volume of the ECS-optimized images of Amazon Linux 2023. EC2 starts no node with a smaller
 * volume.
 */
const minDiskGiB = 30;

/** A table in cdk.json, or name=value,name=value on the command line. */
const table = <S extends z.ZodType>(entries: S) =>
  z.preprocess((given) => {
    if (typeof given !== 'string') return given;
    const pairs = given.split(',').filter((one) => one.trim() !== '');
    return Object.fromEntries(
      pairs.map((pair) => [pair.replace(/=.*$/s, '').trim(), pair.replace(/^[^=]*=?/s, '')]),
    );
  }, entries);

const tagText = (most: number) =>
  z.string().regex(new RegExp(`^[\\p{L}\\p{Z}\\p{N}_.:/=+@-]{1,${most}}$`, 'u'));

const instanceType = z
  .string()
  .trim()
  .regex(/^[a-z][a-z0-9-]*\.[a-z0-9-]+$/, 'must be an EC2 instance type');

const imageReference = z
  .string()
  .trim()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._/:@-]{0,254}$/, 'must be an image reference');

/**
 * All options of a deployment: keys of the CDK context, in cdk.json or with `-c key=value`. The table in
 * infra/README.md is generated from this.
 */
export const DeploymentOptions = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z][a-z0-9-]{1,30}$/)
    .default('model-project-service')
    .describe('Prefix of the names of stacks, functions, queues and job definitions'),
  region: z
    .string()
    .regex(/^[a-z]{2}(-[a-z]+)+-\d$/)
    .optional()
    .describe('Region; default: that of the AWS profile'),
  registration: z
    .enum(['open', 'closed'])
    .default('closed')
    .describe('`open` lets anybody create a guest account'),
  corsOrigins: z
    .preprocess((given) => (Array.isArray(given) ? given.join(',') : given), CorsOrigins)
    .describe('Origins whose pages may call the service from a browser'),
  domainName: z.string().optional().describe('Custom domain of the service; needs `certificateArn`'),
  certificateArn: z
    .string()
    .regex(/^arn:aws[a-z-]*:acm:/, 'must be the ARN of an ACM certificate')
    .optional()
    .describe('ACM certificate of the domain, in the same region'),
  requestsPerSecond: whole(1, 10_000).default(50).describe('Requests per second that the stage accepts'),
  concurrentFunctions: whole(10, 1_000_000)
    .optional()
    .describe('Quota of concurrent functions; `npm run deploy` reads it from the account, else 10'),
  requestBurst: whole(1, 5_000)
    .optional()
    .describe(
      'Burst of requests that the stage accepts; default: half of `concurrentFunctions`, at most 100',
    ),
  spot: yesOrNo
    .default(false)
    .describe(
      'Jobs run on Spot first, also with GPUs, unless they say otherwise: cheaper, and repeated after an interruption',
    ),
  maxVcpus: whole(1, 10_000).default(16).describe('Maximum vCPUs of all Fargate jobs together'),
  clusterMaxVcpus: whole(1, 10_000).default(16).describe('Maximum vCPUs of all cluster nodes together'),
  sharedCluster: yesOrNo
    .default(false)
    .describe('Clusters of several owners may run at once, although their nodes can reach one another'),
  clusterInstanceTypes: list(instanceType)
    .pipe(z.array(z.string()).min(1))
    .default(['m6i.large', 'm6i.xlarge', 'm6i.2xlarge', 'm6i.4xlarge'])
    .describe('Instance types of cluster nodes'),
  gpuInstanceTypes: list(instanceType)
    .default([])
    .describe('Instance types of nodes with GPUs, such as `g6.xlarge`; none: no GPUs'),
  gpuMaxVcpus: whole(1, 10_000)
    .default(16)
    .describe('Maximum vCPUs of all nodes with GPUs together, without clusters'),
  newestNodeImage: yesOrNo
    .default(true)
    .describe(
      'Every deployment gives nodes the newest image; `false`: they keep theirs until something else of them changes',
    ),
  trustedImages: list(imageReference)
    .pipe(z.array(z.string()).max(8))
    .default([])
    .describe('Images that environments of type `docker` may use; each is built from the job image'),
  packageIndexes: z
    .preprocess((given) => (Array.isArray(given) ? given.join(',') : given), PackageIndexes)
    .describe('Package indexes that dependencies may use; `http://host:port` is an index without TLS'),
  jobDiskGiB: whole(minDiskGiB, 200)
    .default(50)
    .describe(`Disk of a job or node; at least ${minDiskGiB}, the root volume of the nodes' image`),
  limitJobSeconds: whole(60, 1_209_600).default(21_600).describe('Maximum duration of a job in seconds'),
  limitLogBytes: whole(1, 1e12).default(100_000_000).describe("Maximum size of a job's log"),
  limitArtifactBytes: whole(1, 1e15).default(20_000_000_000).describe("Maximum size of a job's artifacts"),
  limitProjectBytes: whole(1, 1e15)
    .default(1_000_000_000_000)
    .describe('Maximum bytes of a project in the bucket'),
  limitUnfinishedJobs: whole(1, 10_000)
    .default(4)
    .describe('Maximum number of running jobs of a user; further jobs wait in line'),
  limitWaitingJobs: whole(1, 1_000_000).default(1000).describe('Maximum number of waiting jobs of a user'),
  limitVcpus: whole(1, 10_000)
    .default(16)
    .describe('Maximum vCPUs of all running jobs together; further jobs wait in line'),
  servingMemory: whole(512, 10_240)
    .default(3008)
    .describe(
      'MiB of the function that serves models; new accounts allow 3,008. It costs nothing while nobody asks',
    ),
  servingDisk: whole(512, 10_240)
    .default(4096)
    .describe('MiB of disk of that function, for the files of models'),
  servingConcurrency: whole(1, 10_000)
    .optional()
    .describe(
      "Instances that are reserved for that function, and its maximum; without it, it shares the account's. AWS keeps 100 of an account for others",
    ),
  logRetentionDays: z
    .preprocess((days) => Number(days), z.literal([1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400]))
    .default(30)
    .describe('Days for which CloudWatch keeps logs'),
  auditDays: whole(1, 3650).default(400).describe('Days for which audit records are kept'),
  logLevel: z
    .enum(['debug', 'info', 'warn', 'error'])
    .default('info')
    .describe('Log level of functions and jobs'),
  pointInTimeRecovery: yesOrNo
    .default(true)
    .describe('Tables can be restored to any second of the last 35 days, for a cent a month for 50 MB'),
  bucketVersioning: yesOrNo.default(false).describe('The bucket keeps overwritten and deleted objects'),
  noncurrentDays: whole(1, 3650).default(30).describe('Days for which a versioned bucket keeps them'),
  deleteDataOnDestroy: yesOrNo
    .default(false)
    .describe('`npm run destroy` also removes tables and bucket; otherwise they stay'),
  tags: table(
    z.record(
      tagText(128).refine((name) => !/^aws:/i.test(name), 'must not begin with aws:'),
      tagText(256),
    ),
  )
    .default({})
    .describe('Tags of all resources that support tags, such as `team=vision,stage=test`'),
  permissionsBoundary: z
    .string()
    .regex(/^[A-Za-z0-9_+=,.@/-]{1,512}$/, 'must be the name of an IAM policy')
    .optional()
    .describe(
      'Name of an IAM policy used as permissions boundary of every role, also by `npm run bootstrap`',
    ),
  vpcId: z
    .string()
    .regex(/^vpc-[0-9a-f]{8,17}$/, 'must be the id of a VPC')
    .optional()
    .describe('Existing VPC for the jobs, instead of a new one; needs `subnetIds`'),
  subnetIds: list(
    z
      .string()
      .trim()
      .regex(/^subnet-[0-9a-f]{8,17}$/, 'must be the id of a subnet'),
  )
    .default([])
    .describe(
      'Subnets of that VPC; cluster nodes use the first. The VPC needs gateway endpoints for S3 and DynamoDB',
    ),
  zones: list(
    z
      .string()
      .trim()
      .regex(/^[a-z]{2}(-[a-z]+)+-\d[a-z]$/, 'must be the name of an availability zone'),
  )
    .pipe(z.array(z.string()).max(8))
    .refine((zones) => new Set(zones).size === zones.length, 'must name each zone once')
    .default([])
    .describe('Availability zones of the jobs; clusters use the first. Default: the first two of the region'),
  publicAddresses: yesOrNo
    .default(true)
    .describe('Jobs have public addresses; `false` for private subnets behind a NAT'),
  alarms: yesOrNo
    .default(true)
    .describe(
      'Ten alarms, the free number of an account; use `false` for further deployments in the account',
    ),
  anonymousTimes: whole(1, 1_000)
    .default(1)
    .describe('Factor on the throttles of public operations, such as 10 sign-ins per second'),
  monthlyBudget: whole(1, 1_000_000)
    .default(50)
    .describe(
      'US$ per month of the whole account; a higher actual or forecast cost sends a mail to `alarmEmail`',
    ),
  alarmEmail: z
    .email()
    .optional()
    .describe('Email address for alarms; without it, CloudWatch only shows them'),
  hookMail: list(z.email())
    .pipe(z.array(z.string()).max(20))
    .default([])
    .describe('Email addresses to which hooks of the format `mail` write; SNS asks each to confirm'),
  oidcIssuer: IssuerUrl.refine((text) => /^https:/i.test(text), 'must be an https URL')
    .optional()
    .describe('Issuer of OpenID Connect at which people sign in'),
  oidcClientId: z.string().min(1).default('mps').describe('Client of the service at that issuer'),
  oidcClientSecret: z
    .string()
    .regex(/^[A-Za-z0-9/_+=.@-]{1,512}$/, 'must be the name of a secret')
    .optional()
    .describe('Name of a secret of Secrets Manager with the secret of that client; none for a public client'),
  oidcGroups: z
    .string()
    .default('*=guest')
    .superRefine((text, { addIssue }) => {
      const rules = groupRules(text);
      if (typeof rules === 'string') addIssue(rules);
    })
    .describe('Account types of groups, such as `ml-admins=admin,ml=developer,*=viewer`'),
  oidcOnly: yesOrNo.default(false).describe('Passwords count for the first admin alone'),
});
export type DeploymentOptions = z.infer<typeof DeploymentOptions> & { requestBurst: number };

/** Parse the options from a CDK context. @throws CommandError naming every unknown or invalid option */
export function readOptions(context: Readonly<Record<string, unknown>>): DeploymentOptions {
  const own = Object.fromEntries(Object.entries(context).filter(([key]) => !isForeign(key)));
  const parsed = DeploymentOptions.safeParse(own);
  if (!parsed.success) {
    const faults = parsed.error.issues.map(({ path, message }) =>
      path.length === 0 ? message : `${path.join('.')}: ${message}`,
    );
    throw new CommandError(`Invalid options of the deployment:\n  ${faults.join('\n  ')}`);
  }
  const options = parsed.data;
  checkSizes(options);
  checkReserved(options);
  if ((options.domainName === undefined) !== (options.certificateArn === undefined)) {
    throw new CommandError('domainName and certificateArn must be given together.');
  }
  if ((options.vpcId === undefined) !== (options.subnetIds.length === 0)) {
    throw new CommandError('vpcId and subnetIds must be given together.');
  }
  if (options.vpcId !== undefined && options.zones.length > 0) {
    throw new CommandError(
      "zones is only for the deployment's own network; with vpcId, use subnetIds instead.",
    );
  }
  if (!options.publicAddresses && options.vpcId === undefined) {
    throw new CommandError(
      "publicAddresses=false needs vpcId and subnetIds, because the deployment's own subnets are public.",
    );
  }
  return { ...options, requestBurst: options.requestBurst ?? burstFor(options.concurrentFunctions) };
}

/** Whether a context key belongs to the CDK itself. */
const isForeign = (key: string): boolean => /[@:]/.test(key);

/** @throws CommandError if one node needs more vCPUs than the limit of all nodes: Batch would never start it */
function checkSizes(options: z.infer<typeof DeploymentOptions>): void {
  const limits = [
    ['clusterInstanceTypes', 'clusterMaxVcpus'],
    ['gpuInstanceTypes', 'gpuMaxVcpus'],
  ] as const;
  for (const [types, most] of limits) {
    const sizes = options[types].flatMap((type) => instances[type]?.vcpus ?? []);
    const least = Math.min(...sizes);
    if (sizes.length < options[types].length || sizes.length === 0 || least <= options[most]) continue;
    throw new CommandError(
      `${most} is ${options[most]}, but no instance type of ${types} has fewer than ${least} vCPUs.`,
    );
  }
}

/** Concurrent functions of an account that no function may reserve. */
const unreserved = 100;

/** @throws CommandError if the account has too few concurrent functions: Lambda refuses the reservation late */
function checkReserved({ servingConcurrency, concurrentFunctions }: z.infer<typeof DeploymentOptions>): void {
  if (servingConcurrency === undefined || concurrentFunctions === undefined) return;
  const most = Math.max(0, concurrentFunctions - unreserved);
  if (servingConcurrency <= most) return;
  throw new CommandError(
    `servingConcurrency is ${servingConcurrency}, but an account with ${concurrentFunctions} concurrent functions can reserve at most ${most}: AWS keeps ${unreserved} for other functions. Ask for a higher quota, or leave it out.`,
  );
}
