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
    /** Version of the last one of this name that was deleted; no version of a name is given twice. */
    versions_before: z.number().int().default(0),
    /** Tells a configuration from a deleted one of the same name, whose contents may still be on their way out. */
    generation: Ulid,
  }),
);
export type Config = z.infer<typeof config.schema>;

/** Versions of a configuration that are kept: its newest ones. */
export const versionsKept = 100;
/** Most configurations of a project. With their versions they take 26 GB at most, most of them far less. */
export const maxConfigs = 1000;
/** The write that counts a new configuration. */
export const configCount = new WriteLabel('configurations');

/** Largest configuration file, in bytes; with it an item stays below the store's 400 KB. */
export const configMaxBytes = 256 * 1024;

export const parseConfig = config.parse;

/** Partitions that hold a project's configurations. */
export const configPartitions = (project_id: string): string[] => [
  `CONFIGS#${project_id}`,
  contentsPartition(project_id),
  `DELETED_CONFIGS#${project_id}`,
];

const contentsPartition = (project_id: string): string => `CONFIG_CONTENTS#${project_id}`;

export async function findConfig(
  records: Records,
  project_id: string,
  config_id: string,
): Promise<Config | undefined> {
  const item = await records.get(configKey(project_id, config_id));
  return item && config.parse(item);
}

type Records = TableReader<'records'>;

const configKey = (project_id: string, config_id: string): Key => ({
  pk: `CONFIGS#${project_id}`,
  sk: config_id,
});

/** The configuration, for its removal, and that it is unchanged. What cannot be read of it is told by its contents. */
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

/** Last version of a configuration that was deleted, 0 where none of that name ever was. */
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

/** Configurations of a project, by name. */
export async function listConfigs(
  records: Records,
  project_id: string,
  page: { limit?: number; after: string | undefined },
): Promise<Page<Config>> {
  return readPage(await records.query({ pk: `CONFIGS#${project_id}`, ...page }), config.parse);
}

/** The bytes of the newest version; undefined when the configuration was deleted meanwhile. */
export async function readConfigContent(records: Records, value: Config): Promise<Uint8Array | undefined> {
  const item = await records.get(contentKey(value));
  return item && content.parse(item).content;
}

const contentKey = (value: Config, version = value.version): Key => ({
  pk: contentsPartition(value.project_id),
  sk: `${contentPrefix(value)}${String(version).padStart(10, '0')}`,
});

/** Each version's content is an item of its own and never changes; so a list reads no contents. */
const contentPrefix = ({ config_id, generation }: Config): string => `${config_id}#${generation}#`;

const content = recordType('config-content', () =>
  z.object({
    content: Bytes,
    /** When it was stored; earlier releases noted that of the newest version alone. */
    updated_at: Timestamp.optional(),
  }),
);

/** The oldest version that is kept of a configuration, beside all later ones. */
export const oldestKept = ({
  version,
  versions_before,
}: Pick<Config, 'version' | 'versions_before'>): number =>
  Math.max(versions_before + 1, version - versionsKept + 1);

/** One version of a configuration, with the time at which it was stored where that is known. */
export interface ConfigVersion {
  content: Uint8Array;
  updated_at: string | null;
}

/** A version that is kept; undefined for any other, and when the configuration was deleted meanwhile. */
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
 * Stores the next version of a configuration, or its first, and removes the oldest where that is one too many.
 * @throws ConditionFailedError when another version came between, or under {@link configCount} when the project has no
 * room for another configuration
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

/** The write that records a configuration of an imported project, whose versions are recorded before it. */
export const putImportedConfig = (value: Config): Write => ({
  put: config.item(configKey(value.project_id, value.config_id), value),
});

/** The write that records one version of it. */
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

/** Deletes a configuration with all its versions. @throws ConditionFailedError when it is not `unchanged` any more */
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

/** What remains to be removed once a configuration is deleted. */
export const configRemains = (value: Config): PurgeTarget => ({
  partitions: [{ pk: contentsPartition(value.project_id), prefix: contentPrefix(value) }],
  prefixes: [],
});
