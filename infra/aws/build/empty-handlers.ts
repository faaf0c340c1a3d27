import { build } from 'esbuild';
import { bundleOptions } from '../../local/build/bundle-options.ts';
import { purePackages } from './pure-packages.ts';

/** Code that opens the clients of each kind of need, as functions do. */
const clients: Readonly<Record<string, string>> = {
  tables: `import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { BatchGetCommand, DynamoDBDocumentClient, GetCommand, QueryCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
used.push(() => DynamoDBDocumentClient.from(new DynamoDBClient({})), BatchGetCommand, GetCommand, QueryCommand, TransactWriteCommand);`,
  objects: `import * as s3 from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
used.push(() => new s3.S3Client({}), s3.CopyObjectCommand, s3.DeleteObjectsCommand, s3.GetObjectCommand, s3.HeadObjectCommand, s3.ListObjectsV2Command, s3.PutObjectCommand, Upload, getSignedUrl);`,
  batch: `import * as batch from '@aws-sdk/client-batch';
used.push(() => new batch.BatchClient({}), batch.DescribeJobsCommand, batch.ListJobsCommand, batch.SubmitJobCommand, batch.TerminateJobCommand);`,
};

/**
 * Bundles handlers that do nothing and hold the same clients of the AWS SDK as functions do, with the same options.
 *
 * @param kinds which clients, such as `objects-tables`; each gets the folder of its name
 */
export async function emptyHandlers(root: string, folder: string, kinds: readonly string[]): Promise<void> {
  const { plugins, ...options } = bundleOptions;
  for (const kind of kinds) {
    const parts = kind.split('-').map((one) => clients[one] ?? '');
    const imports = parts.flatMap((part) => part.split('\n').filter((line) => line.startsWith('import')));
    const uses = parts.flatMap((part) => part.split('\n').filter((line) => line.startsWith('used')));
    await build({
      ...options,
      absWorkingDir: root,
      stdin: {
        contents: `${imports.join('\n')}\nexport const used = [];\n${uses.join('\n')}\nexport const handler = async () => ({ statusCode: 200 });`,
        resolveDir: root,
      },
      outfile: `${folder}/${kind}/index.mjs`,
      plugins: [purePackages, ...plugins],
      splitting: false,
      sourcemap: false,
      minify: true,
    });
  }
}
