import type * as z from 'zod';
import { tryParseJson } from '../../core/text/try-parse-json.ts';
import { frozenMaxBytes, ReportText } from '../../data/projects/report.ts';
import { BlockData, digestOfBlock } from '../../reports/block-data.ts';
import { blocksOf, parseReport, type ReportBlock } from '../../reports/parse-report.ts';
import { canonicalJson, faultsOf } from '../canonical-json.ts';
import { ReportDocument } from '../documents.ts';
import { fault } from '../project-archive-error.ts';
import { type Ids, resolver } from '../references.ts';
import type { ArchiveFile, OpenArchive } from './open-archive.ts';
import { documentOf, placeholdersOf } from './read-document.ts';

/** A block of an archived report, with its data if it is frozen. */
export interface ReadBlock {
  block: ReportBlock;
  digest: string;
  at?: string;
  data?: z.infer<typeof BlockData>;
}

/** An archived report with ids in place of references. */
interface ReadReport extends Pick<ReportDocument, 'title' | 'created_at' | 'updated_at'> {
  text: string;
  blocks: ReadBlock[];
}

/**
 * Read the document of a report, and check that a request to store it would succeed, but for what the archive does not
 * contain: a block may name a sweep, which is shown as gone.
 * @param ids ids in place of references; by default ones of the same length
 * @throws ProjectArchiveError
 */
export async function readReport(
  { contents }: OpenArchive,
  bytes: AsyncIterable<Uint8Array>,
  file: ArchiveFile,
  ids: Ids = placeholdersOf(contents),
): Promise<ReadReport> {
  const { title, created_at, updated_at, frozen, ...value } = await documentOf(
    bytes,
    file,
    ReportDocument,
    reportMaxBytes,
  );
  const resolve = resolver(ids, file.path);
  const text = resolve(value.text);
  const { error } = ReportText.safeParse(text);
  const { parts, faults } = parseReport(text);
  const textFaults = [...(error === undefined ? [] : faultsOf(error)), ...faults];
  if (textFaults.length > 0) throw fault(...textFaults.map((one) => `${file.path}: text ${one}`));
  const blocks = blocksOf(parts).map((block): ReadBlock => ({ block, digest: digestOfBlock(block) }));
  let last = 0;
  for (const { block: number, at, data } of frozen) {
    const refuse = (what: string) => fault(`${file.path}: the data of block ${number} ${what}`);
    const block = blocks[number - 1];
    if (block === undefined || !block.block.isFrozen || number <= last)
      throw refuse('are of no frozen block, or out of order');
    last = number;
    const read = BlockData.safeParse(tryParseJson(resolve(data)));
    if (!read.success) throw refuse('do not match this format');
    if (read.data.kind !== 'missing' && read.data.kind !== block.block.kind)
      throw refuse(`are those of a ${read.data.kind}`);
    if (Buffer.byteLength(canonicalJson(read.data)) > frozenMaxBytes)
      throw refuse(`have more than ${frozenMaxBytes} bytes`);
    Object.assign(block, { at, data: read.data });
  }
  return { title, created_at, updated_at, text, blocks };
}

/** Maximum bytes of the document. The data of its blocks are JSON in JSON. */
const reportMaxBytes = 9_000_000;
