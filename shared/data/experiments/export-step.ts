import * as z from 'zod';
import { Timestamp, Ulid } from '../../core/formats.ts';
import {
  readWatched,
  type WatchedList,
  type WatchedPage,
  type WatchedPosition,
} from '../lists/watched-list.ts';
import { recordType } from '../table/record.ts';
import type { Key, TableReader, Write } from '../table/table.ts';

const step = recordType('export-step', () =>
  z.object({ experiment_id: Ulid, project_id: Ulid, created_at: Timestamp }),
);
/**
 * An export that has succeeded, and whose model is not registered or not compressed yet. The transaction that ends the export
 * writes the row. The one that records the compression, or why there is none, deletes it.
 */
export type ExportStep = z.infer<typeof step.schema>;

/** Exports that something must follow. */
export const exportSteps: WatchedList<'records'> = { table: 'records', partitions: ['EXPORT_STEPS'] };
export const exportStepKey = (experiment_id: string): Key => ({
  pk: exportSteps.partitions[0],
  sk: experiment_id,
});

export const putExportStep = (value: ExportStep): Write => ({
  put: step.item(exportStepKey(value.experiment_id), value),
});
export const removeExportStep = (experiment_id: string): Write => ({ delete: exportStepKey(experiment_id) });

/** Return the step that the end of an experiment left. Undefined if it was taken. */
export const findExportStep = (
  records: TableReader<'records'>,
  experiment_id: string,
): Promise<ExportStep | undefined> => step.find(records, exportStepKey(experiment_id));

/** Return a page of the steps that are left, oldest first. */
export const listExportSteps = (
  records: TableReader<'records'>,
  position: WatchedPosition | undefined,
): Promise<WatchedPage<ExportStep>> => readWatched(records, exportSteps, step.parse, position, 100);
