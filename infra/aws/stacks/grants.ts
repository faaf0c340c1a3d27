import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { Need } from '../../../shared/core/needs.ts';
import { roleStatements } from '../../service/role-statements.ts';

/** The things of a deployment that functions and jobs need. */
export interface Resources {
  accounts: ITable;
  records: ITable;
  bucket: IBucket;
  /** ARNs of the queues and definitions of submissions. */
  submissions: readonly string[];
  /** ARNs of jobs. Their ids are made by Batch. */
  jobs: readonly string[];
}

/** The statements of a role that these needs come to: explicit actions on named resources. */
export function grantsOf(
  needs: readonly Need<unknown>[],
  { accounts, records, bucket, submissions, jobs }: Resources,
): PolicyStatement[] {
  const arns = {
    accounts: accounts.tableArn,
    records: records.tableArn,
    bucket: bucket.bucketArn,
    submissions,
    jobs,
  };
  return roleStatements(needs, arns).map(
    ({ actions, resources, conditions }) =>
      new PolicyStatement({
        actions: [...actions],
        resources: [...resources],
        ...(conditions !== undefined && { conditions }),
      }),
  );
}
