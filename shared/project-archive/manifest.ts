import * as z from 'zod';
import { FileId, Sha256, Timestamp } from '../core/formats.ts';
import { artifactPathMaxBytes } from '../data/experiments/tracking-rules.ts';

/** Format version that this release writes. It also reads earlier versions. */
export const archiveFormat = 3;

/** Time at which the service recorded something, so not in the future. Clocks of two deployments differ. */
export const RecordedTime = Timestamp.refine(
  (time) => time >= '1970' && Date.parse(time) <= Date.now() + clockDifference,
  'must be from 1970 to the present',
);
const clockDifference = 24 * 3600 * 1000;

const whole = z.number().int().min(0);
const listing = z.strictObject({ crc32: whole, files: whole, sha256: Sha256, size: whole });

/**
 * `manifest.json`: the first file of an archive. Its texts are constant, so equal projects have equal archives.
 */
export const Manifest = z.strictObject({
  format: z.union([z.literal(1), z.literal(2), z.literal(archiveFormat)]),
  /** `index.ndjson`: the list of all files that follow it. */
  index: listing,
  not_contained: z.array(z.string()),
});
export type Manifest = z.infer<typeof Manifest>;

export type ArchiveFormat = 1 | 2 | typeof archiveFormat;

/** Maximum number of files of an archive. Memory holds the whole list. */
export const maxArchiveFiles = 200_000;
/** Maximum bytes of the list. */
export const indexMaxBytes = 100_000_000;

export const manifestOf = (index: Manifest['index'], format: ArchiveFormat = archiveFormat): Manifest => ({
  format,
  index,
  not_contained: [...notContained[format]],
});

/** Contents that archives of a format leave out. These texts are part of the format. */
const notContained: Readonly<Record<ArchiveFormat, readonly string[]>> = {
  1: [
    'values and names of secret variables',
    'members',
    'packed environments and the texts of their locks',
    'registered models, strategies and their receipts',
    'experiments that have not ended, and what is marked as deleted',
  ],
  2: [
    'values and names of secret variables',
    'members, whose accounts belong to a deployment',
    'packed environments and the texts of their locks',
    'models for pruning and quantization, strategies and their receipts, which belong to users',
    'versions of registered models that are of no experiment and no logged model of the project',
    'experiments that have not ended, and what is marked as deleted',
  ],
  3: [
    'values and names of secret variables',
    'members, whose accounts belong to a deployment',
    'links, whose addresses belong to a deployment',
    'packed environments and the texts of their locks',
    'models for pruning and quantization, strategies and their receipts, which belong to users',
    'versions of registered models that are of no experiment and no logged model of the project',
    'sweeps; their trials are experiments, which are contained',
    'past times of schedules, which come paused',
    'experiments that have not ended, and what is marked as deleted',
  ],
};

export const manifestPath = 'manifest.json';
export const indexPath = 'index.ndjson';
export const manifestMaxBytes = 64 * 1024;

/** A file of an archive, as `index.ndjson` lists it. */
export const IndexRow = z.strictObject({
  path: z.string().min(1).max(2000),
  size: whole,
  crc32: whole.max(0xffffffff),
  sha256: Sha256,
  // A download sends this value as a header.
  media_type: z
    .string()
    .max(1000)
    .regex(/^[\x20-\x7e]*$/)
    .optional(),
  created_at: RecordedTime.optional(),
});
export type IndexRow = z.infer<typeof IndexRow>;

/** Paths in an archive. */
export const paths = {
  project: 'project.json',
  config: (config_id: string) => `configs/${config_id}/config.json`,
  configVersion: (config_id: string, version: number) => `configs/${config_id}/${version}`,
  upload: (kind: 'source' | 'dataset', sha256: string) => `${kind}s/${sha256}`,
  experiment: (number: number) => `experiments/${six(number)}/experiment.json`,
  experimentConfig: (number: number) => `experiments/${six(number)}/config`,
  metrics: (number: number) => `experiments/${six(number)}/metrics.ndjson`,
  log: (number: number, node: number) => `experiments/${six(number)}/log-${node}.ndjson`,
  file: (number: number, kind: 'artifact' | 'checkpoint', path: string) =>
    `experiments/${six(number)}/${kind}s/${path}`,
  model: (number: number) => `models/${six(number)}/model.json`,
  modelFile: (number: number, path: string) => `models/${six(number)}/files/${path}`,
  registered: (number: number) => `registry/${six(number)}/model.json`,
  versions: (number: number) => `registry/${six(number)}/versions.ndjson`,
  report: (number: number) => `reports/${six(number)}/report.json`,
  schedule: (number: number) => `schedules/${six(number)}/schedule.json`,
  scheduleConfig: (number: number) => `schedules/${six(number)}/config`,
} as const;

const six = (number: number): string => String(number).padStart(6, '0');

/** The role of a file, from its path. */
export type Placed =
  | { of: 'project' }
  | { of: 'config'; config_id: string }
  | { of: 'config-version'; config_id: string; version: number }
  | { of: 'upload'; kind: 'source' | 'dataset'; sha256: string }
  | {
      of:
        | 'experiment'
        | 'experiment-config'
        | 'metrics'
        | 'model'
        | 'registered'
        | 'versions'
        | 'report'
        | 'schedule'
        | 'schedule-config';
      number: number;
    }
  | { of: 'log'; number: number; node: number }
  | { of: 'file'; number: number; kind: 'artifact' | 'checkpoint'; path: string }
  | { of: 'model-file'; number: number; path: string };

/** Parse the path of a file; undefined for a path that this format does not have. */
export function placedAt(path: string): Placed | undefined {
  for (const [pattern, read] of readers) {
    const groups = pattern.exec(path)?.groups ?? (pattern.test(path) ? {} : undefined);
    if (groups === undefined) continue;
    const placed = read({ ...groups });
    if ('config_id' in placed && !FileId.safeParse(placed.config_id).success) return undefined;
    const most = placed.of === 'model-file' ? artifactPathMaxBytes - 30 : artifactPathMaxBytes;
    if ('path' in placed && !(isSafe(placed.path) && Buffer.byteLength(placed.path) <= most))
      return undefined;
    return placed;
  }
  return undefined;
}

const readers: readonly [pattern: RegExp, read: (groups: Record<string, string>) => Placed][] = [
  [/^project\.json$/, () => ({ of: 'project' })],
  [/^configs\/(?<id>[^/]+)\/config\.json$/, (g) => ({ of: 'config', config_id: named(g, 'id') })],
  [
    /^configs\/(?<id>[^/]+)\/(?<version>[1-9]\d{0,9})$/,
    (g) => ({ of: 'config-version', config_id: named(g, 'id'), version: Number(g['version']) }),
  ],
  [
    /^(?<kind>source|dataset)s\/(?<sha256>[0-9a-f]{64})$/,
    (g) => ({
      of: 'upload',
      kind: g['kind'] === 'source' ? 'source' : 'dataset',
      sha256: named(g, 'sha256'),
    }),
  ],
  [
    /^experiments\/(?<number>\d{6})\/(?<name>experiment\.json|config|metrics\.ndjson)$/,
    (g) => ({
      of:
        g['name'] === 'config'
          ? 'experiment-config'
          : g['name'] === 'metrics.ndjson'
            ? 'metrics'
            : 'experiment',
      number: Number(g['number']),
    }),
  ],
  [
    /^experiments\/(?<number>\d{6})\/log-(?<node>\d|[1-5]\d|6[0-3])\.ndjson$/,
    (g) => ({ of: 'log', number: Number(g['number']), node: Number(g['node']) }),
  ],
  [
    /^experiments\/(?<number>\d{6})\/(?<kind>artifact|checkpoint)s\/(?<path>.+)$/s,
    (g) => ({
      of: 'file',
      number: Number(g['number']),
      kind: g['kind'] === 'artifact' ? 'artifact' : 'checkpoint',
      path: named(g, 'path'),
    }),
  ],
  [/^models\/(?<number>\d{6})\/model\.json$/, (g) => ({ of: 'model', number: Number(g['number']) })],
  [
    /^models\/(?<number>\d{6})\/files\/(?<path>.+)$/s,
    (g) => ({ of: 'model-file', number: Number(g['number']), path: named(g, 'path') }),
  ],
  [
    /^registry\/(?<number>\d{6})\/(?<name>model\.json|versions\.ndjson)$/,
    (g) => ({ of: g['name'] === 'model.json' ? 'registered' : 'versions', number: Number(g['number']) }),
  ],
  [/^reports\/(?<number>\d{6})\/report\.json$/, (g) => ({ of: 'report', number: Number(g['number']) })],
  [
    /^schedules\/(?<number>\d{6})\/(?<name>schedule\.json|config)$/,
    (g) => ({ of: g['name'] === 'config' ? 'schedule-config' : 'schedule', number: Number(g['number']) }),
  ],
];

const named = (groups: Record<string, string | undefined>, name: string): string => groups[name] ?? '';

const isSafe = (path: string): boolean =>
  !path.includes('\0') && path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
