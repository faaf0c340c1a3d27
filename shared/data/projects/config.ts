import * as z from 'zod';
import { FileId, Sha256, Timestamp, Ulid } from '../../core/formats.ts';
import type { Condition } from '../table/condition.ts';
import { Bytes, recordType, unreadableVersion } from '../table/record.ts';
import {
  type Key,
  type Page,
  pageOf,
  readPage,
  type TableReader,
  type TableWriter,
  type Write,
} from '../table/table.ts';
import { WriteLabel } from '../table/write-label.ts';
import { count, projectExists } from './project.ts';
import { type Purge, type PurgeTarget, recordPurge } from './purge.ts';

const config = recordType('config', () =>
  z.object({
    project_id: Ulid,
    config_id: FileId,
    format: z.enum(['yaml', 'json', 'toml']),
    size: z.number().int(),
    sha256: Sha256,
    created_at: Timestamp,
    updated_at: Timestamp,
    version: z.number().int(),
    /** Last version of the deleted configuration of this name. Version numbers of a name are never reused. */
    versions_before: z.number().int().default(0),
    /** Distinguishes a configuration from a deleted one of the same name, whose contents may not be purged yet. */
    generation: Ulid,
  }),
);
export type Config = z.infer<typeof config.schema>;

/** Number of newest versions that are kept of a configuration. */
export const versionsKept = 100;
/** Maximum configurations of a project. With all versions they take at most 26 GB; most take far less. */
export const maxConfigs = 1000;
/** Label of the write that counts a new configuration. */
export const configCount = new WriteLabel('configurations');

/** Maximum bytes of a configuration file. It keeps the item below DynamoDB's limit of 400 KB. */
export const configMaxBytes = 256 * 1024;

export const parseConfig = config.parse;

/** Return the partitions that hold a project's configurations. */
export const configPartitions = (project_id: string): string[] => [
  `CONFIGS#${project_id}`,
  contentsPartition(project_id),
  `DELETED_CONFIGS#${project_id}`,
];

const contentsPartition = (project_id: string): string => `CONFIG_CONTENTS#${project_id}`;

export const findConfig = (
  records: Records,
  project_id: string,
  config_id: string,
): Promise<Config | undefined> => config.find(records, configKey(project_id, config_id));

type Records = TableReader<'records'>;

const configKey = (project_id: string, config_id: string): Key => ({
  pk: `CONFIGS#${project_id}`,
  sk: config_id,
});

/**
 * Return the configuration for its removal, and the condition that it is unchanged. If it is unreadable, derive
 * its generation and version from the keys of its contents.
 */
export async function findConfigToRemove(
  records: Records,
  project_id: string,
  config_id: string,
): Promise<{ config: Config; unchanged: Condition } | undefined> {
  const item = await records.get(configKey(project_id, config_id));
  if (item === undefined) return undefined;
  const [readable] = readPage(pageOf(item), config.parse).items;
  if (readable !== undefined) {
    const { generation, version } = readable;
    return { config: readable, unchanged: { equals: { generation, version } } };
  }
  const pk = contentsPartition(project_id);
  const [latest] = (await records.query({ pk, prefix: `${config_id}#`, descending: true, limit: 1 })).items;
  const [, generation = '', version = ''] = latest?.sk.split('#') ?? [];
  const salvaged = config.salvage(item, {
    project_id,
    config_id,
    format: 'yaml',
    size: 0,
    sha256: '',
    created_at: '',
    updated_at: '',
    version: Number(version) || unreadableVersion,
    versions_before: 0,
    generation,
  });
  return { config: salvaged, unchanged: { exists: true } };
}

/** Return the last version of a deleted configuration. Return 0 if none of that name was ever deleted. */
export async function lastDeletedVersion(
  records: Records,
  project_id: string,
  config_id: string,
): Promise<number> {
  const item = await records.get(deletedKey(project_id, config_id));
  return item === undefined ? 0 : deletedConfig.parse(item).version;
}

const deletedKey = (project_id: string, config_id: string): Key => ({
  pk: `DELETED_CONFIGS#${project_id}`,
  sk: config_id,
});

const deletedConfig = recordType('deleted-config', () => z.object({ version: z.number().int() }));

/** Return a page of the configurations of a project, by name. */
export async function listConfigs(
  records: Records,
  project_id: string,
  page: { limit?: number; after: string | undefined },
): Promise<Page<Config>> {
  return readPage(await records.query({ pk: `CONFIGS#${project_id}`, ...page }), config.parse);
}

/** Return the bytes of the newest version. Return undefined if the configuration was deleted since. */
export const readConfigContent = async (records: Records, value: Config): Promise<Uint8Array | undefined> =>
  (await content.find(records, contentKey(value)))?.content;

const contentKey = (value: Config, version = value.version): Key => ({
  pk: contentsPartition(value.project_id),
  sk: `${contentPrefix(value)}${String(version).padStart(10, '0')}`,
});

/**
 * Prefix of the content items. Each version's content is a separate immutable item, so a list reads no contents.
 */
const contentPrefix = ({ config_id, generation }: Config): string => `${config_id}#${generation}#`;

const content = recordType('config-content', () =>
  z.object({
    content: Bytes,
    /** Time at which it was stored. Earlier releases recorded it only for the newest version. */
    updated_at: Timestamp.optional(),
  }),
);

/** Return the oldest version that is kept of a configuration. */
export const oldestKept = ({
  version,
  versions_before,
}: Pick<Config, 'version' | 'versions_before'>): number =>
  Math.max(versions_before + 1, version - versionsKept + 1);

/** One version of a configuration, with the time at which it was stored, if known. */
export interface ConfigVersion {
  content: Uint8Array;
  updated_at: string | null;
}

/** Return a kept version. Return undefined for any other version, or if the configuration was deleted since. */
export async function readConfigVersion(
  records: Records,
  value: Config,
  version: number,
): Promise<ConfigVersion | undefined> {
  if (version < oldestKept(value) || version > value.version) return undefined;
  const item = await records.get(contentKey(value, version));
  if (item === undefined) return undefined;
  const { content: bytes, updated_at } = content.parse(item);
  const isNewest = version === value.version;
  return { content: bytes, updated_at: updated_at ?? (isNewest ? value.updated_at : null) };
}

/**
 * Store the next version of a configuration, or its first. Remove the oldest version beyond the limit.
 * @throws ConditionFailedError if another version came between, or with {@link configCount} if the project has the
 * maximum number of configurations
 */
export async function putConfig(
  records: TableWriter<'records'>,
  value: Config,
  bytes: Uint8Array,
  previous: Config | undefined,
): Promise<void> {
  const { project_id, config_id, versions_before, updated_at } = value;
  const outlived = oldestKept(value) - 1;
  await records.write(
    projectExists(project_id),
    {
      put: config.item(configKey(project_id, config_id), value),
      if:
        previous === undefined
          ? { exists: false }
          : { equals: { generation: previous.generation, version: previous.version } },
    },
    { put: content.item(contentKey(value), { content: bytes, updated_at }), if: { exists: false } },
    ...(outlived > versions_before ? [{ delete: contentKey(value, outlived) }] : []),
    ...(previous === undefined
      ? [
          configCount.on({
            ...count(project_id, { configs: 1 }),
            if: { exists: true, atMost: { configs: maxConfigs - 1 } },
          }),
          {
            check: deletedKey(project_id, config_id),
            if: versions_before === 0 ? { exists: false } : { equals: { version: versions_before } },
          },
        ]
      : []),
  );
}

/** Build the write that records a configuration of an imported project. Record its versions first. */
export const putImportedConfig = (value: Config): Write => ({
  put: config.item(configKey(value.project_id, value.config_id), value),
});

/** Build the write that records one version of an imported configuration. */
export const putImportedVersion = (
  value: Config,
  version: number,
  { content: bytes, updated_at }: ConfigVersion,
): Write => ({
  put: content.item(contentKey(value, version), {
    content: bytes,
    ...(updated_at !== null && { updated_at }),
  }),
});

/** Delete a configuration with all its versions. @throws ConditionFailedError if it is no longer `unchanged` */
export async function deleteConfig(
  records: TableWriter<'records'>,
  { project_id, config_id, version }: Config,
  unchanged: Condition,
  purge: Purge,
): Promise<void> {
  await records.write(
    { delete: configKey(project_id, config_id), if: unchanged },
    { put: deletedConfig.item(deletedKey(project_id, config_id), { version }) },
    count(project_id, { configs: -1 }),
    recordPurge(purge),
  );
}

/** Return the data to purge after the delete of a configuration. */
export const configRemains = (value: Config): PurgeTarget => ({
  partitions: [{ pk: contentsPartition(value.project_id), prefix: contentPrefix(value) }],
  prefixes: [],
});
