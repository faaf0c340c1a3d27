import { type Need, within } from '../core/needs.ts';
import { type BatchControl, type BatchObserver, batchControl, batchObserver } from './batch.ts';
import { batch } from './batch-client.ts';
import { type ObjectReader, type ObjectWriter, objectReader, objectWriter } from './objects.ts';
import { s3, s3OfUrls } from './s3-client.ts';
import { type MailTopic, mailTopic } from './signed/email-topic.ts';
import { schedulerTimers, type Timers } from './signed/timers.ts';

/** Read objects of the bucket. */
export const readObjects: Need<ObjectReader> = {
  resource: 'objects',
  level: 'read',
  open: ({ environment, settings }) => objectReader(s3(environment), settings.bucket, s3OfUrls(environment)),
};

/** Read and write objects of the bucket. */
export const writeObjects: Need<ObjectWriter> = {
  resource: 'objects',
  level: 'write',
  open: ({ environment, settings }) => objectWriter(s3(environment), settings.bucket, s3OfUrls(environment)),
};

// Pure annotations keep unneeded clients out of a bundle.
const ofProjects = { prefixes: ['projects/'] } as const;
/** Prefix of downloaded packages, which are stored by their hashes. */
export const downloadsPrefix = 'downloads/';
const ofPictures = { prefixes: ['pictures/'] } as const;
const ofModels = { prefixes: ['models/'] } as const;

/** Read objects of projects. */
export const readProjectObjects = /* @__PURE__ */ within(readObjects, ofProjects);
/** Read and write objects of projects. */
export const writeProjectObjects = /* @__PURE__ */ within(writeObjects, ofProjects);
/** Read and write objects of projects and the package downloads that all projects share. */
export const writeTrainingObjects = /* @__PURE__ */ within(writeObjects, {
  prefixes: [...ofProjects.prefixes, downloadsPrefix],
});
/** Read profile pictures. */
export const readPictures = /* @__PURE__ */ within(readObjects, ofPictures);
/** Read and write profile pictures. */
export const writePictures = /* @__PURE__ */ within(writeObjects, ofPictures);

/** Read and write files of models. */
export const writeModelObjects = /* @__PURE__ */ within(writeObjects, ofModels);

/** Describe jobs of AWS Batch. */
export const observeBatch: Need<BatchObserver> = {
  resource: 'batch',
  level: 'observe',
  open: ({ environment }) => batchObserver(batch(environment)),
};

/** Describe, submit and terminate jobs of AWS Batch. */
export const controlBatch: Need<BatchControl> = {
  resource: 'batch',
  level: 'control',
  open: ({ environment, settings }) => batchControl(batch(environment), settings.deployment),
};

/** Send mails to the addresses of the deployment. Undefined if it names none. */
export const publishMail: Need<MailTopic | undefined> = {
  resource: 'mail',
  level: 'publish',
  open: ({ environment, settings: { mailTopic: arn } }) =>
    arn === undefined ? undefined : mailTopic(environment, arn),
};

/** Set timers of schedules. Undefined where the service looks at their times itself. */
export const setTimers: Need<Timers | undefined> = {
  resource: 'timers',
  level: 'set',
  open: ({ environment, settings: { scheduleTimers } }) =>
    scheduleTimers === undefined
      ? undefined
      : schedulerTimers(environment, scheduleTimers, batch(environment).config.credentials),
};
