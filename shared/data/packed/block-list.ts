import * as z from 'zod';
import { breathe } from '../../core/stop-signal.ts';
import { Bytes, type RecordType, recordType } from '../table/record.ts';
import type { Item, Key, TableReader, Write } from '../table/table.ts';
import { type Columns, packColumns, type UnpackedColumns, unpackColumns } from './packed-columns.ts';

/**
 * Rows of a partition in immutable blocks, which one manifest names. What is younger than the blocks lies beside them as
 * single items, the *tail*; whoever reads both decides which holds. A block is written together with the manifest that
 * names it, on condition that nobody wrote another manifest since, so that of two writers one succeeds, and a crash
 * leaves the blocks and the tail as they were.
 */

/** Most bytes of a block: an item takes 400 KB. */
const blockMaxBytes = 300_000;
/** Blocks that one read takes: it answers 16 MB. */
const blocksAtOnce = 50;

/** A block as a manifest names it, with what tells whether a reader needs it. */
type BlockRef<Meta> = Meta & { id: string };

export interface Manifest<Meta, State> {
  blocks: readonly BlockRef<Meta>[];
  state: State;
  /** 0 where there is none yet. */
  version: number;
}

const blockType = recordType('block', () => z.object({ packed: Bytes }));

/** The columns of a stored block. */
export const parseBlock = (item: Item): UnpackedColumns => unpackColumns(blockType.parse(item).packed);

/** Lists of blocks of one kind, in the partitions of what they are of. */
interface BlockLists<Meta, State> {
  readManifest(records: TableReader<'records'>, pk: string): Promise<Manifest<Meta, State>>;
  /** Unpacked blocks in the order of the references, some at a time. @throws BlockGoneError */
  readBlocks<Block extends object>(
    records: TableReader<'records'>,
    pk: string,
    refs: readonly { id: string }[],
    unpack: (columns: UnpackedColumns, id: string) => { block: Block; bytes: number },
  ): AsyncGenerator<Block>;
  /** The write of a manifest in the place of one that was read. */
  putManifest(
    pk: string,
    previous: Manifest<Meta, State>,
    next: Omit<Manifest<Meta, State>, 'version'>,
  ): Write;
  putBlock(pk: string, id: string, packed: Uint8Array): Write;
  deleteBlock(pk: string, id: string): Write;
}

/** A block was replaced since the manifest was read: read the manifest again. */
export class BlockGoneError extends Error {
  override readonly name = 'BlockGoneError';
}

/**
 * Run the rewriting of blocks. False where another writer replaced what it reads: before it read it (its blocks are
 * gone), or before it wrote (its conditions failed).
 */
export async function tryRewrite(rewrite: () => Promise<boolean>): Promise<boolean> {
  try {
    return await rewrite();
  } catch (error) {
    if (error instanceof BlockGoneError) return false;
    throw error;
  }
}

/** Pack columns, unless they are more than one block holds. */
export function packBlock(columns: Columns): Uint8Array | undefined {
  const packed = packColumns(columns);
  return packed.length > blockMaxBytes ? undefined : packed;
}

const manifestSchema = z.object({ packed: Bytes, version: z.number().int() });
/** Schema of the record of every manifest. */
export const ManifestRecord = (): typeof manifestSchema => manifestSchema;

interface ListOptions<Meta, State> {
  /** Its manifests. */
  manifest: RecordType<typeof manifestSchema>;
  /** Beginning of its sort keys. */
  prefix: string;
  /** Parse what a manifest holds. */
  parse(json: unknown): Omit<Manifest<Meta, State>, 'version'>;
  /** State where there is no manifest yet. */
  initial: State;
}

/** The lists of blocks whose manifests and blocks have sort keys that begin with `prefix`. */
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

/** Most bytes of blocks that a process keeps unpacked. */
const cacheMaxBytes = 160_000_000;

interface Cached {
  block: object;
  bytes: number;
}

const cached = new Map<string, Cached>();
let cachedBytes = 0;

/** A block that was kept: blocks never change, so what is kept is good for ever. */
export function cachedBlock(name: string): object | undefined {
  const found = cached.get(name);
  if (found === undefined) return undefined;
  // The last used is the last to go.
  cached.delete(name);
  cached.set(name, found);
  return found.block;
}

/** Keep a block, in the place of those that were not used for longest. */
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
