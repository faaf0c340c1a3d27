import { Duration, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib';
import { AttributeType, BillingMode, CfnTable, StreamViewType, Table } from 'aws-cdk-lib/aws-dynamodb';
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  CfnBucket,
  HttpMethods,
  type LifecycleRule,
  ObjectOwnership,
} from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import { downloadsPrefix } from '../../../shared/aws/needs.ts';
import { adoptContext } from '../options/api-context.ts';
import type { DeploymentOptions } from '../options/deployment-options.ts';

/** User data: two tables and the bucket. They outlive the other stacks, and by default the deployment. */
export class DataStack extends Stack {
  readonly stores: { accounts: Table; records: Table; bucket: Bucket };

  constructor(scope: Construct, id: string, options: DeploymentOptions, props: StackProps) {
    super(scope, id, props);
    this.stores = {
      accounts: this.#table('Accounts', options),
      records: this.#table('Records', options),
      bucket: this.#bucket(options),
    };
    if (this.node.tryGetContext(adoptContext) !== undefined) this.#stateNothing();
  }

  /**
   * Leave out the properties that protect data. CloudFormation takes the template as the truth about a resource that it
   * imports, and sets a property only when a later template adds it.
   */
  #stateNothing(): void {
    const { accounts, records, bucket } = this.stores;
    for (const { node } of [accounts, records, bucket]) {
      const { defaultChild: resource } = node;
      if (resource instanceof CfnTable)
        for (const name of tableProtections) resource.addPropertyDeletionOverride(name);
      if (resource instanceof CfnBucket)
        for (const name of bucketProtections) resource.addPropertyDeletionOverride(name);
    }
  }

  /**
   * Make a table like `infra/local/dynamodb/create-tables.ts`: keys `pk` and `sk`, on-demand billing, expiry by
   * `ttl`.
   */
  #table(id: string, { pointInTimeRecovery, deleteDataOnDestroy }: DeploymentOptions): Table {
    const table = new Table(this, id, {
      partitionKey: { name: 'pk', type: AttributeType.STRING },
      sortKey: { name: 'sk', type: AttributeType.STRING },
      billingMode: BillingMode.PAY_PER_REQUEST,
      timeToLiveAttribute: 'ttl',
      // The stream starts functions that watch a list. The key identifies the list.
      stream: StreamViewType.KEYS_ONLY,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: pointInTimeRecovery },
      deletionProtection: !deleteDataOnDestroy,
      removalPolicy: deleteDataOnDestroy ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN,
    });
    return table;
  }

  #bucket(options: DeploymentOptions): Bucket {
    const { bucketVersioning, noncurrentDays, deleteDataOnDestroy, corsOrigins, domainName } = options;
    const abandoned: LifecycleRule = {
      id: 'abandoned-uploads',
      abortIncompleteMultipartUploadAfter: Duration.days(abandonedUploadDays),
    };
    const downloads: LifecycleRule = {
      id: 'downloads-of-packages',
      prefix: downloadsPrefix,
      expiration: Duration.days(downloadDays),
    };
    const replaced: LifecycleRule = {
      id: 'replaced-versions',
      noncurrentVersionExpiration: Duration.days(noncurrentDays),
      expiredObjectDeleteMarker: true,
    };
    const bucket = new Bucket(this, 'Bucket', {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      versioned: bucketVersioning,
      lifecycleRules: bucketVersioning ? [abandoned, downloads, replaced] : [abandoned, downloads],
      removalPolicy: deleteDataOnDestroy ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN,
      cors: [
        {
          // The console is a page of the API, whose address does not exist yet, and of the custom domain. A
          // presigned URL alone gives access to an object; the origin adds no rights.
          allowedOrigins: [
            `https://*.execute-api.${this.region}.${this.urlSuffix}`,
            ...(domainName === undefined ? [] : [`https://${domainName}`]),
            ...corsOrigins,
          ],
          allowedMethods: [HttpMethods.GET, HttpMethods.PUT, HttpMethods.HEAD],
          allowedHeaders: ['content-type', 'x-amz-checksum-sha256', 'range'],
          exposedHeaders: ['ETag', 'Content-Length', 'Content-Range', 'x-amz-checksum-sha256'],
          maxAge: 3600,
        },
      ],
    });
    return bucket;
  }
}

/** Properties that an update of a table may set again. Its stream and expiry may not: they are enabled before the import. */
const tableProtections = ['DeletionProtectionEnabled', 'PointInTimeRecoverySpecification', 'Tags'];

const bucketProtections = [
  'BucketEncryption',
  'CorsConfiguration',
  'LifecycleConfiguration',
  'OwnershipControls',
  'PublicAccessBlockConfiguration',
  'Tags',
  'VersioningConfiguration',
];

/** Days after which S3 removes the parts of an incomplete upload. */
const abandonedUploadDays = 2;

/** Days that the bucket keeps package downloads. After that, the next build downloads them again. */
const downloadDays = 30;
