import { deploymentTag } from '../../shared/aws/batch.ts';
import type { Need } from '../../shared/core/needs.ts';
import { noticePartition } from '../../shared/data/hooks/notice-partition.ts';

/** Return the statements of a role for these needs: explicit actions on named resources. */
export function roleStatements(needs: readonly Need<unknown>[], arns: ResourceArns): Statement[] {
  const kept = widest(needs);
  return [
    ...(['accounts', 'records'] as const).flatMap((name) => readsOfParts(kept, name, arns[name])),
    ...kept.flatMap((need) => statementsOf(need, arns)),
    ...(arns.notify !== undefined && kept.some(writesNotices)
      ? [{ actions: ['lambda:InvokeFunction'], resources: [arns.notify] }]
      : []),
  ];
}

/** ARNs of the resources that functions and jobs need. */
export interface ResourceArns {
  accounts: string;
  records: string;
  bucket: string;
  /** Queues and definitions. */
  submissions: readonly string[];
  /** Jobs. Batch assigns their ids. */
  jobs: readonly string[];
  /** Name of the deployment, which its jobs have as their tag. */
  deployment: string;
  /** Topic of mails; undefined if the deployment sends none. */
  mailTopic?: string | undefined;
  /** Function that sends messages of hooks; undefined if a timer does. */
  notify?: string | undefined;
  /** Schedules in the group of the deployment, and the role that they take; undefined if there are no such timers. */
  timers?: { schedules: string; role: string } | undefined;
}

/** Whether a role may write notices, whose writers call the function that sends them. */
const writesNotices = ({ resource, level, scope }: Need<unknown>): boolean =>
  resource === 'records' &&
  level === 'write' &&
  (scope?.partitions === undefined || scope.partitions.includes(noticePartition));

/** An "Allow" statement of an IAM policy. */
export interface Statement {
  actions: readonly string[];
  resources: readonly string[];
  conditions?: Conditions;
}

/** Keys and values of a condition, by its operator. */
export type Conditions = Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;

/** Drop needs that another need includes. A need for a different part of the resource is not included. */
function widest(needs: readonly Need<unknown>[]): Need<unknown>[] {
  const kept: Need<unknown>[] = [];
  for (const need of needs) {
    if (kept.some((wide) => includes(wide, need))) continue;
    const rest = kept.filter((one) => !includes(need, one));
    kept.splice(0, kept.length, ...rest, need);
  }
  return kept;
}

const includes = (wide: Need<unknown>, need: Need<unknown>): boolean =>
  wide.resource === need.resource &&
  (wide.level === need.level || wide.level === 'write' || wide.level === 'control') &&
  (wide.scope === undefined || wide.scope === need.scope);

function statementsOf(need: Need<unknown>, arns: ResourceArns): Statement[] {
  const actions = actionsOf(need);
  switch (need.resource) {
    case 'accounts':
    case 'records':
      return onTable(arns[need.resource], actions.table ?? [], need);
    case 'objects':
      return onBucket(arns.bucket, need);
    case 'batch':
      return [
        { actions: actions.anything ?? [], resources: ['*'] },
        ...(actions.submission === undefined ? [] : submissionStatements(actions.submission, arns)),
        ...(actions.jobs === undefined
          ? []
          : [{ actions: actions.jobs, resources: arns.jobs, conditions: tagged('Resource', arns) }]),
      ];
    case 'mail':
      return arns.mailTopic === undefined
        ? []
        : [{ actions: actions.topic ?? [], resources: [arns.mailTopic] }];
    case 'timers':
      return arns.timers === undefined
        ? []
        : [
            { actions: actions.timers ?? [], resources: [arns.timers.schedules] },
            {
              actions: ['iam:PassRole'],
              resources: [arns.timers.role],
              conditions: { StringEquals: { 'iam:PassedToService': 'scheduler.amazonaws.com' } },
            },
          ];
  }
}

/** Submissions carry the deployment's tag, by which jobs may be terminated. */
function submissionStatements(actions: readonly string[], arns: ResourceArns): Statement[] {
  const resources = [...arns.submissions, ...arns.jobs];
  return [
    { actions, resources },
    { actions: ['batch:TagResource'], resources, conditions: tagged('Request', arns) },
  ];
}

const tagged = (what: 'Request' | 'Resource', { deployment }: ResourceArns): Conditions => ({
  StringEquals: { [`aws:${what}Tag/${deploymentTag}`]: deployment },
});

const tableReads = ['dynamodb:BatchGetItem', 'dynamodb:GetItem', 'dynamodb:Query'];

/** IAM allows a transaction through the actions of its parts. */
const tableWrites = [
  'dynamodb:ConditionCheckItem',
  'dynamodb:DeleteItem',
  'dynamodb:PutItem',
  'dynamodb:UpdateItem',
];

const table = {
  read: { table: tableReads },
  append: { table: ['dynamodb:PutItem'] },
  write: { table: [...tableReads, ...tableWrites] },
} satisfies Partial<Record<Level, Actions>>;

/** S3 returns 403 instead of 404 for a missing object unless the caller may list the bucket. */
const bucket = ['s3:ListBucket'];

const watching = ['batch:DescribeJobs', 'batch:ListJobs'];

const actions: Readonly<Record<Resource, Readonly<Partial<Record<Level, Actions>>>>> = {
  accounts: table,
  records: table,
  objects: {
    read: { bucket, objects: ['s3:GetObject'] },
    write: {
      bucket,
      objects: [
        's3:AbortMultipartUpload',
        's3:DeleteObject',
        's3:GetObject',
        // Without this grant, only the principal that began an upload may list its parts, and another one
        // completes it.
        's3:ListMultipartUploadParts',
        's3:PutObject',
      ],
    },
  },
  batch: {
    observe: { anything: watching },
    control: {
      anything: watching,
      submission: ['batch:SubmitJob'],
      jobs: ['batch:CancelJob', 'batch:TerminateJob'],
    },
  },
  mail: { publish: { topic: ['sns:Publish'] } },
  timers: { set: { timers: ['scheduler:CreateSchedule'] } },
};

type Resource = Need<unknown>['resource'];

type Level = Need<unknown>['level'];

/** Granted actions for each kind of thing in a resource. */
interface Actions {
  table?: readonly string[];
  /** Objects of the bucket. */
  objects?: readonly string[];
  bucket?: readonly string[];
  /** Job queues and job definitions. IAM also checks the job that results from a submission. */
  submission?: readonly string[];
  jobs?: readonly string[];
  topic?: readonly string[];
  /** Schedules of EventBridge Scheduler. */
  timers?: readonly string[];
  /** Actions that IAM grants only on `*`. */
  anything?: readonly string[];
}

/** Return the actions of a need. @throws if the resource has no such level */
function actionsOf({ resource, level }: Pick<Need<unknown>, 'resource' | 'level'>): Actions {
  const found = actions[resource][level];
  if (found === undefined) throw new Error(`${resource} has no level ${level}`);
  return found;
}

/**
 * Grant the reads of all parts of a table in one statement. The table joins reads of one moment in one request, and IAM
 * allows it only if a single statement has all of its partitions.
 */
function readsOfParts(
  needs: readonly Need<unknown>[],
  name: 'accounts' | 'records',
  arn: string,
): Statement[] {
  const partitions = needs.flatMap(({ resource, level, scope }) =>
    resource === name && level !== 'append' ? (scope?.partitions ?? []) : [],
  );
  if (partitions.length === 0) return [];
  return [{ actions: tableReads, resources: [arn], conditions: heldTo([...new Set(partitions)]) }];
}

/** Condition that all keys of a request are in these partitions. */
const heldTo = (partitions: readonly string[]): Conditions => ({
  'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': partitions },
  // Without a key in the request, the condition above would match.
  Null: { 'dynamodb:LeadingKeys': 'false' },
});

/** Actions on a partition that a write only checks. */
const checkActions = ['dynamodb:ConditionCheckItem'] as const;

/** IAM statements of a need for a table. `readsOfParts` adds read grants for single partitions. */
function onTable(arn: string, actions: readonly string[], { scope }: Need<unknown>): Statement[] {
  if (scope?.partitions === undefined) return [{ actions, resources: [arn] }];
  const { partitions, checked = [] } = scope;
  const writes = actions.filter((action) => !tableReads.includes(action));
  return [
    ...(writes.length === 0 ? [] : [{ actions: writes, resources: [arn], conditions: heldTo(partitions) }]),
    ...(checked.length === 0
      ? []
      : [{ actions: checkActions, resources: [arn], conditions: heldTo(checked) }]),
  ];
}

function onBucket(arn: string, need: Need<unknown>): Statement[] {
  const { objects = [], bucket = [] } = actionsOf(need);
  const prefixes = need.scope?.prefixes ?? [];
  const keys = prefixes.length === 0 ? ['*'] : prefixes.map((prefix) => `${prefix}*`);
  return [
    { actions: objects, resources: keys.map((key) => `${arn}/${key}`) },
    {
      actions: bucket,
      resources: [arn],
      // Reading a missing object sends no prefix. S3 returns 404 if the caller may list without a prefix,
      // otherwise 403.
      ...(prefixes.length > 0 && { conditions: { StringLikeIfExists: { 's3:prefix': keys } } }),
    },
  ];
}
