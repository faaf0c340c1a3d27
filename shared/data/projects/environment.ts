import * as z from 'zod';
import { Timestamp, Ulid } from '../../core/formats.ts';
import { ofVersion, recordType, unreadableVersion } from '../table/record.ts';
import type { Key, TableReader, TableWriter, Write } from '../table/table.ts';
import { count, projectExists, projectPrefix } from './project.ts';

const environment = recordType('environment', () =>
  z.object({
    project_id: Ulid,
    entry_point_command: z.string(),
    env_type: EnvironmentType,
    dependencies: z.string(),
    /** Digest of the resolved dependencies. Null until the first build has resolved them. */
    lock_hash: z.string().nullable(),
    updated_at: Timestamp,
    version: z.number().int(),
  }),
);

export type Environment = z.infer<typeof environment.schema>;

export const environmentTypes = ['python', 'node', 'system', 'docker'] as const;
export const EnvironmentType = z.enum(environmentTypes, `must be one of ${environmentTypes.join(', ')}`);
export type EnvironmentType = z.infer<typeof EnvironmentType>;

export const environmentKey = (project_id: string): Key => ({
  pk: `ENVIRONMENT#${project_id}`,
  sk: 'ENVIRONMENT',
});
export const parseEnvironment = environment.parse;

export const findEnvironment = (
  records: TableReader<'records'>,
  project_id: string,
): Promise<Environment | undefined> => environment.find(records, environmentKey(project_id));

/** Return the environment that will be replaced, even if it is unreadable. */
export async function findEnvironmentToReplace(
  records: TableReader<'records'>,
  project_id: string,
): Promise<Environment | undefined> {
  const item = await records.get(environmentKey(project_id));
  if (item === undefined) return undefined;
  const unreadable = '';
  return environment.salvage(item, {
    project_id,
    entry_point_command: unreadable,
    env_type: 'system',
    dependencies: unreadable,
    lock_hash: null,
    updated_at: unreadable,
    version: unreadableVersion,
  });
}

/** Store the environment. @throws ConditionFailedError if another version or the project's delete came between */
export async function putEnvironment(
  records: TableWriter<'records'>,
  value: Environment,
  previous: Environment | undefined,
): Promise<void> {
  await records.write(projectExists(value.project_id), {
    put: environment.item(environmentKey(value.project_id), value),
    if: previous === undefined ? { exists: false } : ofVersion(previous.version),
  });
}

/** Build the write that records the environment of an imported project. */
export const putImportedEnvironment = (value: Environment): Write => ({
  put: environment.item(environmentKey(value.project_id), value),
});

/**
 * Record the lock of a build, unless the environment has changed since the job's creation. `proof` checks that the
 * builder still holds the job.
 * @throws ConditionFailedError
 */
export async function recordLock(
  records: TableWriter<'records'>,
  { project_id, version, lock_hash }: { project_id: string; version: number; lock_hash: string },
  proof: Write,
): Promise<void> {
  const change = { set: { lock_hash } };
  await records.write({ update: environmentKey(project_id), change, if: { equals: { version } } }, proof);
}

const pack = recordType('environment-pack', () =>
  z.object({
    request_key: z.string(),
    lock_hash: z.string(),
    lock: z.string(),
    /** Duration of the installation in seconds. Every later run saves this time. */
    build_seconds: z.number(),
    bytes: z.number().int(),
    created_at: Timestamp,
  }),
);
export type EnvironmentPack = z.infer<typeof pack.schema>;

export const environmentPartitions = (project_id: string): string[] => [
  `ENVIRONMENT#${project_id}`,
  packPartition(project_id),
];

/** Return the partition of a project's packed environments. Projects never share them. */
const packPartition = (project_id: string): string => `ENVIRONMENT_PACKS#${project_id}`;

/** Return the lock texts of these digests, if the project still has environments with them. */
export async function findLocks(
  records: TableReader<'records'>,
  project_id: string,
  hashes: ReadonlySet<string>,
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  let after: string | undefined;
  do {
    const page = await records.query({ pk: packPartition(project_id), after });
    for (const item of page.items) {
      if (item['record_type'] !== pack.kind) continue;
      const { lock_hash, lock } = pack.parse(item);
      if (hashes.has(lock_hash)) found.set(lock_hash, lock);
    }
    after = page.next;
  } while (after !== undefined && found.size < hashes.size);
  return found;
}

export const findPack = (
  records: TableReader<'records'>,
  project_id: string,
  request_key: string,
): Promise<EnvironmentPack | undefined> => pack.find(records, packKey(project_id, request_key));

const packKey = (project_id: string, request_key: string): Key => ({
  pk: packPartition(project_id),
  sk: request_key,
});

/**
 * Record a pack that is already in the bucket. It may replace a damaged pack.
 * @throws ConditionFailedError if `holder` is no longer its builder, or the project is gone
 */
export async function putPack(
  records: TableWriter<'records'>,
  project_id: string,
  value: EnvironmentPack,
  holder: string,
): Promise<void> {
  const { request_key, bytes } = value;
  const previous = await findPack(records, project_id, request_key);
  await records.write(
    projectExists(project_id),
    { check: builderKey(project_id, request_key), if: { equals: { holder } } },
    {
      put: pack.item(packKey(project_id, request_key), value),
      if: previous === undefined ? { exists: false } : { equals: { created_at: previous.created_at } },
    },
    previous === undefined
      ? count(project_id, { objects: 1, bytes })
      : count(project_id, { bytes: bytes - previous.bytes }),
  );
}

const builderKey = (project_id: string, request_key: string): Key => ({
  pk: packPartition(project_id),
  sk: `${request_key}#BUILDER`,
});

/** Return the bucket prefix of a project's packed environments. */
export const packsPrefix = (project_id: string): string => `${projectPrefix(project_id)}environments/`;
/** Return the bucket key of a packed environment. */
export const packObject = (project_id: string, request_key: string): string =>
  `${packsPrefix(project_id)}${request_key}`;

/**
 * Make `holder` the only builder of a key until `until`. A claim that ends implausibly late was written before the
 * clock was set back, and does not block.
 * @throws ConditionFailedError while another builder holds the key
 */
export async function claimBuild(
  records: TableWriter<'records'>,
  project_id: string,
  request_key: string,
  holder: string,
  now: Date,
  until: Date,
): Promise<void> {
  await records.write({
    put: builder.item(builderKey(project_id, request_key), {
      holder,
      expires_at: until.toISOString(),
      ttl: Math.ceil(until.getTime() / 1000),
    }),
    if: {
      any: [
        { exists: false },
        { below: { expires_at: now.toISOString() } },
        { above: { expires_at: new Date(until.getTime() + longestClaimSeconds * 1000).toISOString() } },
        { equals: { holder } },
      ],
    },
  });
}

const builder = recordType('environment-builder', () =>
  z.object({
    holder: z.string(),
    expires_at: Timestamp,
    /** Epoch seconds after which DynamoDB removes the claim of a dead builder. */
    ttl: z.number().int().optional(),
  }),
);

/** Upper bound of a claim's duration, in seconds. */
const longestClaimSeconds = 300;

/** Release the claim. @throws ConditionFailedError if the claim was already lost */
export async function releaseBuild(
  records: TableWriter<'records'>,
  project_id: string,
  request_key: string,
  holder: string,
): Promise<void> {
  await records.write({ delete: builderKey(project_id, request_key), if: { equals: { holder } } });
}
