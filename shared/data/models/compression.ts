import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import * as z from 'zod';
import { FileId, Sha256, Ulid } from '../../core/formats.ts';
import { notFound } from '../../core/service-error.ts';
import { storedRequest } from '../../onnx/strategies/prune-request.ts';
import { jobFields, jobPartition, OptimizationKind, type UnfinishedJob, unreadableJob } from '../jobs/job.ts';
import { finalRank, isFinal } from '../jobs/job-status.ts';
import { spreadList } from '../lists/spread-list.ts';
import type { PurgeTarget } from '../projects/purge.ts';
import type { Condition } from '../table/condition.ts';
import { Bytes, recordType } from '../table/record.ts';
import {
  type Key,
  type Page,
  pageOf,
  readPage,
  type TableReader,
  type TableWriter,
  type Write,
} from '../table/table.ts';
import { tryWrite } from '../table/write-label.ts';
import { ModelFile } from './model-file.ts';

const compression = recordType('strategy', () =>
  z.object({
    ...jobFields(),
    kind: OptimizationKind,
    strategy_id: Ulid,
    /** Name of the user who requested it. Null once that user is deleted. */
    owner: z.string().nullable(),
    model_name: FileId,
    /** Id of the requested model, even if another model gets its name later. */
    model_id: Ulid,
    /** Project of the experiment that the model comes from. Absent if it was uploaded. Its hooks hear of the end. */
    project_id: Ulid.optional(),
    model_digest: Sha256,
    /** Files of the model at the time of the request. */
    files: z.array(ModelFile),
    /** Shapes stored with the model at the time of the request. */
    stored_shapes: z.object({ inputs: z.string().nullable(), outputs: z.string().nullable() }),
    request: storedRequest(),
    /**
     * Requested shapes of the tensors, in the grammar of `shared/onnx/model/inspect`. Null to use the shapes of
     * the model.
     */
    inputs: z.string().nullable(),
    outputs: z.string().nullable(),
    /** Name of the model that the result becomes. */
    result_name: FileId.nullable(),
    /** Whether the result became a model. Null if that was not requested, or is not decided yet. */
    registered: z.boolean().nullable(),
    progress: Progress.nullable(),
    result: z.array(ResultFile),
    /**
     * US dollars for an attempt that reaches its timeout, at the price of the request. Null if no price was known.
     */
    cost_estimate: z.number().nullable().default(null),
    /** Number of stored parts of the receipt. 0 if it has none. */
    receipt_parts: z.number().int(),
  }),
);

/** One requested pruning or quantization of one model: the request, its job and its result. */
export type Compression = z.infer<typeof compression.schema>;

/** Progress of the work: the current stage, and its completed fraction (0 to 1). */
export const Progress = z.object({ stage: z.string(), fraction: z.number() });
export type Progress = z.infer<typeof Progress>;

/** File of a compression's result: `model.onnx`, or its external data. */
export const ResultFile = z.object({
  name: z.string(),
  size: z.number().int(),
  sha256: Sha256,
  /** Key in the bucket. */
  object: z.string(),
});
export type ResultFile = z.infer<typeof ResultFile>;

/** Key patterns of the compressions of a kind, for the policy of a role. */
export const compressionPatterns = (kind: OptimizationKind): readonly string[] => compressions[kind].patterns;

const compressions = {
  prune: spreadList('STRATEGIES#prune'),
  quantize: spreadList('STRATEGIES#quantize'),
} satisfies Record<OptimizationKind, unknown>;

/** Return the id of a new compression, derived from a new ULID. */
export const newCompressionId = (
  kind: OptimizationKind,
  records: TableWriter<'records'>,
  ulid: string,
): Promise<string> => compressions[kind].newId(records, ulid);
export const compressionKey = (kind: OptimizationKind, strategy_id: string): Key =>
  compressions[kind].keyOf(strategy_id);
export const parseCompression = compression.parse;
/** Record type that identifies a compression item. */
export const compressionRecordKind = compression.kind;

/** Return the bucket key of a new file of a compression's result. */
export const resultObject = (strategy_id: string, file_id: string): string =>
  `${compressionPrefix(strategy_id)}${file_id}`;

/** Return the bucket prefix of all objects of a compression. */
const compressionPrefix = (strategy_id: string): string => `strategies/${strategy_id}/`;

/** Return the compression. @throws ServiceError `not-found` if this operation has no such compression */
export async function requireCompression(
  records: Records,
  kind: OptimizationKind,
  strategy_id: string,
): Promise<Compression> {
  const item = await records.get(compressionKey(kind, strategy_id));
  if (item === undefined) throw notFound(`${kind} strategy`, strategy_id);
  return compression.parse(item);
}

type Records = TableReader<'records'>;

/**
 * Return the compression for its removal, and the condition of the delete: it has ended, or it is unreadable and
 * nothing else will ever end it.
 *
 * @throws ServiceError `not-found` if this operation has no such compression
 */
export async function requireCompressionToRemove(
  records: Records,
  kind: OptimizationKind,
  strategy_id: string,
): Promise<{ compression: Compression; hasEnded: boolean; removable: Condition }> {
  const item = await records.get(compressionKey(kind, strategy_id));
  if (item === undefined) throw notFound(`${kind} strategy`, strategy_id);
  const found = compression.salvage(item, {
    ...unreadableJob(),
    kind,
    strategy_id,
    owner: null,
    model_name: '',
    model_id: '',
    model_digest: '',
    files: [],
    stored_shapes: { inputs: null, outputs: null },
    request: {
      operation: 'prune',
      strategy: 'random',
      keep_metadata: false,
      compression: 1,
      allocation: 'uniform',
      max_loss: null,
      goal: 'size',
      exclude: [],
      max_error: null,
      seed: 0,
      measure: 'full',
    },
    inputs: null,
    outputs: null,
    result_name: null,
    registered: null,
    progress: null,
    result: [],
    cost_estimate: null,
    receipt_parts: 0,
  });
  if (readPage(pageOf(item), compression.parse).unreadable !== undefined) {
    return { compression: found, hasEnded: true, removable: { exists: true } };
  }
  const removable = { equals: { status_rank: finalRank } };
  return { compression: found, hasEnded: isFinal(found.status), removable };
}

/** Return a page of the compressions of an operation, newest first. */
export async function listCompressions(
  records: Records,
  kind: OptimizationKind,
  page: { limit?: number; after: string | undefined },
): Promise<Page<Compression>> {
  return readPage(await compressions[kind].newest(records, { limit: 100, ...page }), compression.parse);
}

export const putCompression = (value: Compression): Write => ({
  put: compression.item(compressionKey(value.kind, value.strategy_id), value),
  if: { exists: false },
});

/** Return a page of the ids of compressions that a user requested and that still have their name. */
export async function listOwnCompressions(
  records: Records,
  kind: OptimizationKind,
  user_id: string,
  after: string | undefined,
): Promise<Page<string>> {
  const { items, next } = await compressions[kind].newest(records, { limit: 100, after });
  // Check single attributes, because this must also find unreadable records.
  const own = items.filter((item) => item['user_id'] === user_id && item['owner'] !== null);
  return { items: own.map(({ sk }) => sk), next };
}

/** Remove a user's name from a compression that they requested, unless it was deleted since. */
export async function disownCompression(
  records: TableWriter<'records'>,
  kind: OptimizationKind,
  user_id: string,
  strategy_id: string,
): Promise<void> {
  await tryWrite(
    records.write({
      update: compressionKey(kind, strategy_id),
      change: { set: { owner: null }, add: { version: 1 } },
      if: { equals: { user_id } },
    }),
  );
}

/** Return the row of a compression in the list of unfinished jobs. It belongs to no project. */
export const compressionJob = ({
  strategy_id,
  kind,
  user_id,
  vcpus,
  nodes,
  limit_share,
}: Compression): UnfinishedJob => ({
  job_id: strategy_id,
  kind,
  subject: compressionKey(kind, strategy_id),
  project_id: null,
  user_id,
  vcpus: vcpus * nodes,
  limit_share,
  cluster_owner: null,
});

/** Build the check that a compression exists: nobody deletes it at the same moment. */
export const compressionExists = (kind: OptimizationKind, strategy_id: string): Write => ({
  check: compressionKey(kind, strategy_id),
  if: { exists: true },
});

/** Build the write that deletes the record of a compression if `removable` holds. */
export const removeCompression = ({ kind, strategy_id }: Compression, removable: Condition): Write => ({
  delete: compressionKey(kind, strategy_id),
  if: removable,
});

/** Return the data to purge after the delete of a compression's record. */
export const compressionRemains = ({ strategy_id }: Pick<Compression, 'strategy_id'>): PurgeTarget => ({
  partitions: [{ pk: jobPartition(strategy_id) }],
  prefixes: [compressionPrefix(strategy_id)],
});

/** Build the writes that store the packed receipt of a job. Return undefined if it is too large. */
export async function putReceipt(job_id: string, receipt: unknown): Promise<Write[] | undefined> {
  const json = JSON.stringify(receipt);
  if (Buffer.byteLength(json) > maxJson) return undefined;
  const packed = await compress(json);
  if (packed.length > maxPacked) return undefined;
  const parts = Array.from({ length: Math.ceil(packed.length / partBytes) }, (_, index) =>
    packed.subarray(index * partBytes, (index + 1) * partBytes),
  );
  return parts.map((bytes, index) => ({ put: part.item(partKey(job_id, index), { packed: bytes }) }));
}

/** Maximum bytes of a receipt as JSON. It must fit into one response. */
const maxJson = 4_000_000;

const compress = promisify(gzip);

/** Maximum bytes of a packed receipt. One transaction (4 MB) writes it together with the end of its job. */
const maxPacked = 3_000_000;

const partBytes = 300_000;

/** Part of a packed receipt. An item takes 400 KB. */
const part = recordType('receipt', () => z.object({ packed: Bytes }));

const partKey = (job_id: string, index: number): Key => ({
  pk: jobPartition(job_id),
  sk: `RECEIPT#${String(index).padStart(2, '0')}`,
});

/** Read the receipt of a job from its parts. Return undefined if it is being removed. */
export async function readReceipt(
  records: TableReader<'records'>,
  job_id: string,
  parts: number,
): Promise<unknown> {
  const keys = Array.from({ length: parts }, (_, index) => partKey(job_id, index));
  const items = await records.batchGet(keys);
  const found = items.filter((item) => item !== undefined);
  if (parts === 0 || found.length < parts) return undefined;
  const packed = Buffer.concat(found.map((item) => part.parse(item).packed));
  return JSON.parse((await decompress(packed)).toString('utf8'));
}

const decompress = promisify(gunzip);
