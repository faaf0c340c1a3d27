import { type Need, within } from '../core/needs.ts';
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

// Marked as pure, so that a bundle holds only the clients that it needs.
const ofProjects = { prefixes: ['projects/'] } as const;
/** Packages from indexes, by their hashes. */
export const downloadsPrefix = 'downloads/';
const ofPictures = { prefixes: ['pictures/'] } as const;
const ofModels = { prefixes: ['models/'] } as const;

/** Reads of the objects of projects. */
export const readProjectObjects = /* @__PURE__ */ within(readObjects, ofProjects);
/** Reads and writes of the objects of projects. */
export const writeProjectObjects = /* @__PURE__ */ within(writeObjects, ofProjects);
/** Reads and writes of what projects keep, and of the downloads of packages that all of them share. */
export const writeTrainingObjects = /* @__PURE__ */ within(writeObjects, {
  prefixes: [...ofProjects.prefixes, downloadsPrefix],
});
/** Reads of profile pictures. */
export const readPictures = /* @__PURE__ */ within(readObjects, ofPictures);
/** Reads and writes of profile pictures. */
export const writePictures = /* @__PURE__ */ within(writeObjects, ofPictures);

/** Reads and writes of the files of models. */
export const writeModelObjects = /* @__PURE__ */ within(writeObjects, ofModels);

/** Asking Batch about jobs, submitting and ending them. */
export const controlBatch: Need<BatchControl> = {
  resource: 'batch',
  level: 'control',
  open: ({ environment }) => batchControl(batch(environment)),
};
