import type { Need } from '../../shared/core/needs.ts';
import { actionsOf, checkActions } from './actions.ts';

/** Keys and values of a condition, by its operator. */
export type Conditions = Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;

/** A statement that allows, of an IAM policy. */
export interface Statement {
  actions: readonly string[];
  resources: readonly string[];
  conditions?: Conditions;
}

/** ARNs of the things that functions and jobs need. */
export interface ResourceArns {
  accounts: string;
  records: string;
  bucket: string;
  /** Queues and definitions. */
  submissions: readonly string[];
  /** Jobs, whose ids are made by Batch. */
  jobs: readonly string[];
}

function onTable(arn: string, actions: readonly string[], { scope }: Need<unknown>): Statement[] {
  const held = (partitions: readonly string[]): Conditions => ({
    'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': partitions },
    // Without a key in the request the condition above would hold.
    Null: { 'dynamodb:LeadingKeys': 'false' },
  });
  if (scope?.partitions === undefined) return [{ actions, resources: [arn] }];
  const { partitions, checked = [] } = scope;
  const checks = { actions: checkActions, resources: [arn], conditions: held(checked) };
  return [
    { actions, resources: [arn], conditions: held(partitions) },
    ...(checked.length === 0 ? [] : [checks]),
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
      // Reading an object that is missing carries no prefix; it is 404 for who may list without one, else 403.
      ...(prefixes.length > 0 && { conditions: { StringLikeIfExists: { 's3:prefix': keys } } }),
    },
  ];
}

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
        ...(actions.submission === undefined
          ? []
          : [{ actions: actions.submission, resources: [...arns.submissions, ...arns.jobs] }]),
        ...(actions.jobs === undefined ? [] : [{ actions: actions.jobs, resources: arns.jobs }]),
      ];
  }
}

const includes = (wide: Need<unknown>, need: Need<unknown>): boolean =>
  wide.resource === need.resource &&
  (wide.level === need.level || wide.level === 'write' || wide.level === 'control') &&
  (wide.scope === undefined || wide.scope === need.scope);

/** Without those that another one includes: a need of another part of the resource is none of these. */
function widest(needs: readonly Need<unknown>[]): Need<unknown>[] {
  const kept: Need<unknown>[] = [];
  for (const need of needs) {
    if (kept.some((wide) => includes(wide, need))) continue;
    const rest = kept.filter((one) => !includes(need, one));
    kept.splice(0, kept.length, ...rest, need);
  }
  return kept;
}

/** The statements of a role that these needs come to: explicit actions on named resources. */
export function roleStatements(needs: readonly Need<unknown>[], arns: ResourceArns): Statement[] {
  return widest(needs).flatMap((need) => statementsOf(need, arns));
}
