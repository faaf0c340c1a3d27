/** A request as the SDK's middleware sees it; of DynamoDB the attribute values are marshalled. */
export interface ExternalCall {
  service: string;
  /** Such as `TransactWriteItems`. */
  operation: string;
  input: unknown;
}

interface MarshalledWrite {
  Put?: { Item?: Record<string, { S?: string }> };
  Update?: { Key?: Record<string, { S?: string }>; ExpressionAttributeNames?: Record<string, string> };
  Delete?: { Key?: Record<string, { S?: string }> };
}

interface Touched {
  verb: 'put' | 'update' | 'delete';
  pk: string;
  sk: string;
  /** Attributes that an update names. */
  names: readonly string[];
}

function touchedBy(input: unknown): Touched[] {
  const { TransactItems = [] } = input as { TransactItems?: MarshalledWrite[] };
  return TransactItems.flatMap(({ Put, Update, Delete }) => {
    const [verb, key] = Put
      ? (['put', Put.Item] as const)
      : Update
        ? (['update', Update.Key] as const)
        : (['delete', Delete?.Key] as const);
    if (key === undefined) return [];
    const names = Object.values(Update?.ExpressionAttributeNames ?? {});
    return [{ verb, pk: key['pk']?.S ?? '', sk: key['sk']?.S ?? '', names }];
  });
}

const isJob = (pk: string): boolean => pk.startsWith('EXPERIMENTS#') || pk.startsWith('STRATEGIES#');
/** Whether a partition is one of a list that is spread over several. */
const isList = (pk: string, list: string): boolean => pk === list || pk.startsWith(`${list}#`);
const isPack = (pk: string): boolean => pk.startsWith('ENVIRONMENT_PACKS#');

/** Transactions by what is in them; the first that fits names the point. */
const writePoints: readonly [string, (write: Touched) => boolean][] = [
  ['turn-taken', ({ names }) => names.includes('begun_at')],
  ['joined-line', ({ verb, pk, sk }) => verb === 'put' && pk.startsWith('LINE#') && sk.startsWith('JOB#')],
  ['line-moved', ({ verb, pk }) => verb === 'put' && pk === 'WAITING_LINES'],
  ['recorded', ({ verb, pk }) => verb === 'put' && isList(pk, 'UNFINISHED_JOBS')],
  ['concluded', ({ verb, pk }) => verb === 'delete' && isList(pk, 'UNFINISHED_JOBS')],
  ['project-deleted', ({ verb, pk }) => verb === 'delete' && isList(pk, 'PROJECTS')],
  ['leased', ({ verb, sk }) => verb === 'put' && sk.startsWith('LEASE#')],
  ['log-shipped', ({ verb, sk }) => verb === 'put' && sk.startsWith('LOG#')],
  ['metrics-shipped', ({ verb, sk }) => verb === 'put' && sk.startsWith('METRIC#')],
  ['artifact-recorded', ({ verb, sk }) => verb === 'put' && sk.startsWith('ARTIFACT#')],
  ['checkpoint-recorded', ({ verb, sk }) => verb === 'put' && sk.startsWith('CHECKPOINT#')],
  ['heartbeat', ({ verb, sk }) => verb === 'update' && sk.startsWith('LEASE#')],
  ['cancel-requested', ({ names }) => names.includes('cancel_requested_at')],
  ['submission-noted', ({ pk, names }) => isJob(pk) && names.includes('depends_on')],
  ['status-observed', ({ pk, names }) => isJob(pk) && names.includes('attempts')],
  ['progress-noted', ({ verb, pk }) => verb === 'update' && isJob(pk)],
  ['build-claimed', ({ verb, pk, sk }) => verb === 'put' && isPack(pk) && sk.endsWith('#BUILDER')],
  ['build-released', ({ verb, pk, sk }) => verb === 'delete' && isPack(pk) && sk.endsWith('#BUILDER')],
  ['pack-recorded', ({ verb, pk }) => verb === 'put' && isPack(pk)],
  ['model-recorded', ({ verb, pk }) => verb === 'put' && pk === 'MODELS'],
  ['experiment-purged', ({ verb, pk }) => verb === 'delete' && pk.startsWith('EXPERIMENTS#')],
  ['job-purged', ({ verb, pk }) => verb === 'delete' && pk.startsWith('JOB#')],
  ['purge-postponed', ({ verb, pk }) => verb === 'update' && pk === 'PURGES'],
  ['purge-finished', ({ verb, pk }) => verb === 'delete' && pk === 'PURGES'],
  ['import-ended', ({ verb, pk }) => verb === 'delete' && pk === 'ARCHIVES'],
  ['records-purged', ({ verb }) => verb === 'delete'],
];

const otherPoints: Readonly<Record<string, string>> = {
  SubmitJob: 'submitted',
  ListJobs: 'looked-up',
  DescribeJobs: 'described',
  TerminateJob: 'terminated',
  PutObject: 'uploaded',
  CopyObject: 'copied',
  GetObject: 'downloaded',
  ListObjectsV2: 'objects-listed',
  DeleteObjects: 'objects-deleted',
};

/** The point in the life of a job or of a delete at which this call stands; undefined for one without a name. */
export function pointOf({ operation, input }: ExternalCall): string | undefined {
  if (operation !== 'TransactWriteItems') return otherPoints[operation];
  const touched = touchedBy(input);
  return writePoints.find(([, fits]) => touched.some(fits))?.[0];
}

/** The job that a conclusion ends. */
export const concludedJob = ({ input }: ExternalCall): string =>
  touchedBy(input).find(({ verb, pk }) => verb === 'delete' && isList(pk, 'UNFINISHED_JOBS'))?.sk ?? '';
