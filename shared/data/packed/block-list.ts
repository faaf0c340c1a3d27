import * as z from 'zod';
import { breathe } from '../../core/stop-signal.ts';
import { Bytes, type RecordType, recordType } from '../table/record.ts';
import type { Item, Key, TableReader, Write } from '../table/table.ts';
import { type Columns, packColumns, type UnpackedColumns, unpackColumns } from './packed-columns.ts';

/**
 * Rows of a partition in immutable blocks. One manifest names all blocks. Newer data are single items, the *tail*.
 * The reader of both decides which data are current. One transaction writes a block and the manifest that names
 * it, and fails if the manifest has changed. So of two writers one succeeds, and a crash leaves the blocks and the
 * tail unchanged.
 */

/** Maximum bytes of a block. An item takes 400 KB. */
const blockMaxBytes = 300_000;
/** Maximum blocks in one read. A response holds 16 MB. */
const blocksAtOnce = 50;

/** Reference of a manifest to a block. `Meta` tells a reader whether it needs the block. */
type BlockRef<Meta> = Meta & { id: string };

export interface Manifest<Meta, State> {
  blocks: readonly BlockRef<Meta>[];
  state: State;
  /** 0 if no manifest exists yet. */
  version: number;
}

const blockType = recordType('block', () => z.object({ packed: Bytes }));

/** Unpack the columns of a stored block. */
export const parseBlock = (item: Item): UnpackedColumns => unpackColumns(blockType.parse(item).packed);

/** Lists of blocks of one kind, one per partition. */
interface BlockLists<Meta, State> {
  readManifest(records: TableReader<'records'>, pk: string): Promise<Manifest<Meta, State>>;
  /** Yield unpacked blocks in the order of the references, and read several at a time. @throws BlockGoneError */
  readBlocks<Block extends object>(
    records: TableReader<'records'>,
    pk: string,
    refs: readonly { id: string }[],
    unpack: (columns: UnpackedColumns, id: string) => { block: Block; bytes: number },
  ): AsyncGenerator<Block>;
  /** Build the write that replaces a manifest. It fails if the manifest has changed since the read. */
  putManifest(
    pk: string,
    previous: Manifest<Meta, State>,
    next: Omit<Manifest<Meta, State>, 'version'>,
  ): Write;
  putBlock(pk: string, id: string, packed: Uint8Array): Write;
  deleteBlock(pk: string, id: string): Write;
}

/** A block was replaced since the read of the manifest. Read the manifest again. */
export class BlockGoneError extends Error {
  override readonly name = 'BlockGoneError';
}

/**
 * Run a rewrite of blocks. Return false if another writer replaced the blocks: before this one read them (blocks
 * are gone), or before it wrote (a condition failed).
 */
export async function tryRewrite(rewrite: () => Promise<boolean>): Promise<boolean> {
  try {
    return await rewrite();
  } catch (error) {
    if (error instanceof BlockGoneError) return false;
    throw error;
  }
}

/** Pack columns. Return undefined if they do not fit into one block. */
export function packBlock(columns: Columns): Uint8Array | undefined {
  const packed = packColumns(columns);
  return packed.length > blockMaxBytes ? undefined : packed;
}

const manifestSchema = z.object({ packed: Bytes, version: z.number().int() });
/** Schema of all manifest records. */
export const ManifestRecord = (): typeof manifestSchema => manifestSchema;

interface ListOptions<Meta, State> {
  /** Record type of the manifests. */
  manifest: RecordType<typeof manifestSchema>;
  /** Prefix of the sort keys. */
  prefix: string;
  /** Parse the content of a manifest. */
  parse(json: unknown): Omit<Manifest<Meta, State>, 'version'>;
  /** State if no manifest exists yet. */
  initial: State;
}

/** Create the lists of blocks whose sort keys begin with `prefix`. */
export function blockLists<Meta, State>({
  manifest,
  prefix,
  parse,
  initial,
}: ListOptions<Meta, State>): BlockLists<Meta, State> {
  const manifestKey = (pk: string): Key => ({ pk, sk: `${prefix}MANIFEST` });
  const blockKey = (pk: string, id: string): Key => ({ pk, sk: `${prefix}BLOCK#${id}` });
  return {
    async readManifest(records, pk) {
      const item = await records.get(manifestKey(pk));
      if (item === undefined) return { blocks: [], state: initial, version: 0 };
      const { packed, version } = manifest.parse(item);
      return { ...parse(unpackColumns(packed).json), version };
    },

    async *readBlocks(records, pk, refs, unpack) {
      for (let from = 0; from < refs.length; from += blocksAtOnce) {
        const some = refs.slice(from, from + blocksAtOnce);
        const nameOf = ({ id }: { id: string }) => `${pk} ${prefix}${id}`;
        const known = some.map((ref) => cachedBlock(nameOf(ref)));
        const missing = some.filter((_, index) => known[index] === undefined);
        const items =
          missing.length === 0 ? [] : await records.batchGet(missing.map(({ id }) => blockKey(pk, id)));
        const read = new Map(items.flatMap((item): [string, Item][] => (item ? [[item.sk, item]] : [])));
        for (const [index, ref] of some.entries()) {
          await breathe();
          const there = known[index];
          if (there !== undefined) {
            yield there as ReturnType<typeof unpack>['block'];
            continue;
          }
          const item = read.get(blockKey(pk, ref.id).sk);
          if (item === undefined) throw new BlockGoneError(`block ${ref.id} of ${pk} is gone`);
          const { block, bytes } = unpack(parseBlock(item), ref.id);
          keepBlock(nameOf(ref), block, bytes);
          yield block;
        }
      }
    },

    putManifest: (pk, { version }, { blocks, state: next }) => ({
      put: manifest.item(manifestKey(pk), {
        packed: packColumns({ json: parse({ blocks, state: next }), numbers: [] }),
        version: version + 1,
      }),
      if: version === 0 ? { exists: false } : { equals: { version } },
    }),
    putBlock: (pk, id, packed) => ({
      put: blockType.item(blockKey(pk, id), { packed }),
      if: { exists: false },
    }),
    deleteBlock: (pk, id) => ({ delete: blockKey(pk, id) }),
  };
}

/** Maximum bytes of unpacked blocks in the cache of a process. */
const cacheMaxBytes = 160_000_000;

interface Cached {
  block: object;
  bytes: number;
}

const cached = new Map<string, Cached>();
let cachedBytes = 0;

/** Return a cached block. Blocks never change, so cached blocks never expire. */
export function cachedBlock(name: string): object | undefined {
  const found = cached.get(name);
  if (found === undefined) return undefined;
  // Move it to the end, so it is evicted last.
  cached.delete(name);
  cached.set(name, found);
  return found.block;
}

/** Cache a block, and evict the least recently used ones. */
export function keepBlock(name: string, block: object, bytes: number): void {
  if (cached.has(name) || bytes > cacheMaxBytes / 4) return;
  cached.set(name, { block, bytes });
  cachedBytes += bytes;
  for (const [oldest, { bytes: freed }] of cached) {
    if (cachedBytes <= cacheMaxBytes) return;
    cached.delete(oldest);
    cachedBytes -= freed;
  }
}
