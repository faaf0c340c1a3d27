import * as z from 'zod';
import type { ObjectWriter } from '../../aws/objects.ts';
import { Ulid } from '../../core/formats.ts';
import type { TableReader, TableWriter } from '../../data/table.ts';
import { IndexRow } from '../manifest.ts';

/** What an export works with. */
export interface ExportContext {
  records: TableWriter<'records'>;
  accounts: TableReader<'accounts'>;
  objects: ObjectWriter;
  newId(): string;
  now(): Date;
}

/** A file of the archive to be, with the place of its bytes in the bucket. */
export const PlannedFile = IndexRow.extend({ object: z.string(), offset: z.number().int() });
export type PlannedFile = z.infer<typeof PlannedFile>;

/** Which experiments and models an export contains: those that there were when it began, in their order. */
export const Contained = z.object({ experiments: z.array(Ulid), models: z.array(Ulid) });
export type Contained = z.infer<typeof Contained>;
