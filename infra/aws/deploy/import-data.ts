import { CommandError } from '../../command/command-error.ts';
import type { AdoptedData } from './adopt.ts';

interface LogicalResource {
  id: string;
  type: string;
}

const wanted = [
  { what: 'accounts', type: 'AWS::DynamoDB::Table', id: 'Accounts', identifier: 'TableName' },
  { what: 'records', type: 'AWS::DynamoDB::Table', id: 'Records', identifier: 'TableName' },
  { what: 'bucket', type: 'AWS::S3::Bucket', id: 'Bucket', identifier: 'BucketName' },
] as const;

/**
 * Which existing thing becomes which resource of the data stack, as `cdk import` takes it.
 * @param resources those of the data stack's template
 */
export function importMapping(
  resources: readonly LogicalResource[],
  adopted: AdoptedData,
): Record<string, Record<string, string>> {
  return Object.fromEntries(
    wanted.map(({ what, type, id, identifier }) => {
      const found = resources.find((one) => one.type === type && one.id.startsWith(id));
      if (found === undefined) throw new Error(`the data stack has no ${id}`);
      return [found.id, { [identifier]: adopted[what] }];
    }),
  );
}

/** The names that a command line gives; undefined where it gives none. @throws CommandError where one lacks */
export function adoptedData(
  given: Readonly<Record<keyof AdoptedData, string | undefined>>,
): AdoptedData | undefined {
  const { accounts, records, bucket } = given;
  if (accounts === undefined && records === undefined && bucket === undefined) return undefined;
  if (!accounts || !records || !bucket) {
    throw new CommandError(
      '--adopt-accounts, --adopt-records and --adopt-bucket go together: the records name objects and users.',
    );
  }
  return { accounts, records, bucket };
}
