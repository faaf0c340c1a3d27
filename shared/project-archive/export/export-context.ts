import * as z from 'zod';
import type { ObjectWriter } from '../../aws/objects.ts';
import { Ulid } from '../../core/formats.ts';
import type { TableReader, TableWriter } from '../../data/table/table.ts';
import { IndexRow } from '../manifest.ts';

/** Dependencies of an export. */
export interface ExportContext {
  records: TableWriter<'records'>;
  accounts: TableReader<'accounts'>;
  objects: ObjectWriter;
  newId(): string;
  now(): Date;
}

/** A file of the planned archive, with the location of its bytes in the bucket. */
export const PlannedFile = IndexRow.extend({ object: z.string(), offset: z.number().int() });
export type PlannedFile = z.infer<typeof PlannedFile>;

const ContainedRegistered = z.object({
  registration_id: Ulid,
  /** Name when the export began. */
  name: z.string(),
  /** Name in the archive. */
  archived_name: z.string(),
  /** Numbers of its versions in the archive, in ascending order. */
  versions: z.array(z.number().int()),
});
/** A registered model, with the versions that an export contains. */
export type ContainedRegistered = z.infer<typeof ContainedRegistered>;

/** The experiments, models, reports and schedules that an export contains: those that existed when it began, in order. */
export const Contained = z.object({
  experiments: z.array(Ulid),
  models: z.array(Ulid),
  // Exports of an earlier release have no registered models.
  registered: z.array(ContainedRegistered).default([]),
  // Those before format 3 have neither.
  reports: z.array(Ulid).default([]),
  schedules: z.array(Ulid).default([]),
});
export type Contained = z.infer<typeof Contained>;
