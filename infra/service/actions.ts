import type { Need } from '../../shared/core/needs.ts';

type Resource = Need<unknown>['resource'];
type Level = Need<unknown>['level'];

/** Actions that are granted on each kind of thing that a resource consists of. */
export interface Actions {
  table?: readonly string[];
  /** Objects of the bucket. */
  objects?: readonly string[];
  bucket?: readonly string[];
  /** Job queues and job definitions; IAM asks for the job that comes of them, too. */
  submission?: readonly string[];
  jobs?: readonly string[];
  /** Actions that IAM allows on `*` alone. */
  anything?: readonly string[];
}

const tableReads = ['dynamodb:BatchGetItem', 'dynamodb:GetItem', 'dynamodb:Query'];
/** A transaction is allowed by the actions that it consists of. */
const tableWrites = [
  'dynamodb:ConditionCheckItem',
  'dynamodb:DeleteItem',
  'dynamodb:PutItem',
  'dynamodb:UpdateItem',
];
const table = {
  read: { table: tableReads },
  write: { table: [...tableReads, ...tableWrites] },
} satisfies Partial<Record<Level, Actions>>;

/** S3 returns 403 instead of 404 for a missing object unless the caller may list. */
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
        // Only the principal that began an upload may list its parts without a grant, and another one completes it.
        's3:ListMultipartUploadParts',
        's3:PutObject',
      ],
    },
  },
  batch: {
    observe: { anything: watching },
    control: { anything: watching, submission: ['batch:SubmitJob'], jobs: ['batch:TerminateJob'] },
  },
};

/** The actions that a need comes to. @throws where the resource has no such level */
export function actionsOf({ resource, level }: Pick<Need<unknown>, 'resource' | 'level'>): Actions {
  const found = actions[resource][level];
  if (found === undefined) throw new Error(`${resource} has no level ${level}`);
  return found;
}

/** Of a partition that a write only checks. */
export const checkActions = ['dynamodb:ConditionCheckItem'] as const;
