import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Bucket, IBucket } from 'aws-cdk-lib/aws-s3';
import type { Need } from '../../shared/endpoint/needs.ts';
import { actionsOf, checkActions } from '../actions.ts';

/** The things of a deployment that functions and jobs need. */
export interface Resources {
  accounts: ITable;
  records: ITable;
  bucket: IBucket;
  /** ARNs of what may be submitted: queues and definitions. */
  submissions: readonly string[];
  /** ARNs of jobs. Their ids are made by Batch. */
  jobs: readonly string[];
}

/**
 * How a role is held to the prefixes of a need. Looking for an object that is missing carries no prefix: functions are
 * told so (404), jobs are refused (403), which also may not list the whole bucket.
 */
type Holder = 'function' | 'job';

const allow = (
  actions: readonly string[],
  resources: readonly string[],
  conditions?: Record<string, unknown>,
) =>
  new PolicyStatement({
    actions: [...actions],
    resources: [...resources],
    ...(conditions !== undefined && { conditions }),
  });

function onTable(table: ITable, actions: readonly string[], { scope }: Need<unknown>): PolicyStatement[] {
  const held = (partitions: readonly string[]) => ({
    'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [...partitions] },
    // Without a key in the request the condition above would hold.
    Null: { 'dynamodb:LeadingKeys': 'false' },
  });
  if (scope?.partitions === undefined) return [allow(actions, [table.tableArn])];
  const { partitions, checked = [] } = scope;
  return [
    allow(actions, [table.tableArn], held(partitions)),
    ...(checked.length === 0 ? [] : [allow(checkActions, [table.tableArn], held(checked))]),
  ];
}

function onBucket(bucket: IBucket | Bucket, need: Need<unknown>, holder: Holder): PolicyStatement[] {
  const { objects = [], bucket: onIt = [] } = actionsOf(need);
  const prefixes = need.scope?.prefixes ?? [];
  const keys = prefixes.length === 0 ? ['*'] : prefixes.map((prefix) => `${prefix}*`);
  const operator = holder === 'job' ? 'StringLike' : 'StringLikeIfExists';
  const condition = prefixes.length === 0 ? undefined : { [operator]: { 's3:prefix': keys } };
  return [
    allow(
      objects,
      keys.map((key) => bucket.arnForObjects(key)),
    ),
    allow(onIt, [bucket.bucketArn], condition),
  ];
}

function statementsOf(need: Need<unknown>, resources: Resources, holder: Holder): PolicyStatement[] {
  const actions = actionsOf(need);
  switch (need.resource) {
    case 'accounts':
    case 'records':
      return onTable(resources[need.resource], actions.table ?? [], need);
    case 'objects':
      return onBucket(resources.bucket, need, holder);
    case 'batch':
      return [
        allow(actions.anything ?? [], ['*']),
        ...(actions.submission === undefined ? [] : [allow(actions.submission, resources.submissions)]),
        ...(actions.jobs === undefined ? [] : [allow(actions.jobs, resources.jobs)]),
      ];
  }
}

/** Of two needs of one resource, the one that includes the other. */
function widest(needs: readonly Need<unknown>[]): Need<unknown>[] {
  const wide = new Map<Need<unknown>['resource'], Need<unknown>>();
  for (const need of needs) {
    const present = wide.get(need.resource);
    if (present === undefined || need.level === 'write' || need.level === 'control')
      wide.set(need.resource, need);
  }
  return [...wide.values()];
}

/** The statements of a role that these needs come to: explicit actions on named resources. */
export function grantsOf(
  needs: readonly Need<unknown>[],
  resources: Resources,
  holder: Holder,
): PolicyStatement[] {
  return widest(needs).flatMap((need) => statementsOf(need, resources, holder));
}
