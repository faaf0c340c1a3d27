import * as z from 'zod';
import type { ObjectWriter } from '../../aws/objects.ts';
import { Ulid } from '../../core/formats.ts';
import type { TableReader, TableWriter } from '../../data/table/table.ts';
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

const ContainedRegistered = z.object({
  registration_id: Ulid,
  /** When the export began. */
  name: z.string(),
  /** Name in the archive. */
  archived_name: z.string(),
  /** Numbers of its versions that are contained, in their order. */
  versions: z.array(z.number().int()),
});
/** A registered model, and which of its versions an export contains. */
export type ContainedRegistered = z.infer<typeof ContainedRegistered>;

/** Which experiments and models an export contains: those that there were when it began, in their order. */
export const Contained = z.object({
  experiments: z.array(Ulid),
  models: z.array(Ulid),
  // An export that an earlier release began contains none.
  registered: z.array(ContainedRegistered).default([]),
});
export type Contained = z.infer<typeof Contained>;
