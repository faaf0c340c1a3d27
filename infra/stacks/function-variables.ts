import { computePrices } from '../cost/price-list.ts';
import type { DeploymentOptions } from '../deployment-options.ts';
import type { BatchNames } from './batch-names.ts';

interface Stores {
  accounts: { tableName: string };
  records: { tableName: string };
  bucket: { bucketName: string };
}

/** Variables that functions and jobs share; `shared/core/settings.ts` reads them. */
export function jobVariables(
  { records, bucket }: Omit<Stores, 'accounts'>,
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

/** Variables of every function. */
export function functionVariables(
  stores: Stores,
  names: BatchNames,
  options: DeploymentOptions,
): Record<string, string> {
  return {
    ...jobVariables(stores, options),
    ACCOUNTS_TABLE: stores.accounts.tableName,
    TRAIN_QUEUE: names.trainQueue,
    TRAIN_DEFINITION: names.definition('train'),
    OPTIMIZE_QUEUE: names.trainQueue,
    PRUNE_DEFINITION: names.definition('prune'),
    QUANTIZE_DEFINITION: names.definition('quantize'),
    CLUSTER_QUEUE: names.clusterQueue,
    CLUSTER_DEFINITION: names.clusterDefinition,
    ...(names.gpu === undefined
      ? { GPUS: 'no' }
      : { GPUS: 'yes', GPU_QUEUE: names.gpu.queue, GPU_DEFINITION: names.gpu.definition }),
    REGISTRATION: options.registration,
    TRUSTED_IMAGES: JSON.stringify(
      Object.fromEntries(names.trusted.map(({ image, ...definitions }) => [image, definitions])),
    ),
    PRICES: JSON.stringify(computePrices(options)),
    LIMIT_UNFINISHED_JOBS: String(options.limitUnfinishedJobs),
    LIMIT_WAITING_JOBS: String(options.limitWaitingJobs),
    LIMIT_VCPUS: String(options.limitVcpus),
    SHARED_CLUSTER: options.sharedCluster ? 'yes' : 'no',
    ...(options.corsOrigins.length > 0 && { CORS_ORIGINS: options.corsOrigins.join(',') }),
  };
}
