import type { Need } from '../endpoint/needs.ts';
import { type BatchControl, batchControl } from './batch.ts';
import { batch } from './batch-client.ts';
import { type ObjectReader, type ObjectWriter, objectReader, objectWriter } from './objects.ts';
import { s3 } from './s3-client.ts';

/** Reads of the bucket. */
export const readObjects: Need<ObjectReader> = {
  resource: 'objects',
  level: 'read',
  open: ({ environment, settings }) => objectReader(s3(environment), settings.bucket),
};

/** Reads and writes of the bucket. */
export const writeObjects: Need<ObjectWriter> = {
  resource: 'objects',
  level: 'write',
  open: ({ environment, settings }) => objectWriter(s3(environment), settings.bucket),
};

/** Asking Batch about jobs, submitting and ending them. */
export const controlBatch: Need<BatchControl> = {
  resource: 'batch',
  level: 'control',
  open: ({ environment }) => batchControl(batch(environment)),
};
