import { posix } from 'node:path';
import * as z from 'zod';
import { line, paragraphOrBlank } from '../../core/text/text-rules.ts';

// Rules of an experiment's tracking data, from a request, an MLflow client, a job's configuration or an archive.

/** Maximum bytes of the path of an artifact: the limit of a sort key (1,024) minus its prefix. */
export const artifactPathMaxBytes = 1000;

/** Path under which an artifact may be stored. */
export const StoredPath = z
  .string()
  .refine(
    (path) => Buffer.byteLength(path) <= artifactPathMaxBytes,
    `is longer than ${artifactPathMaxBytes} bytes`,
  );

/** Maximum length of a metric, param or tag name, in characters. */
export const maxTrackedName = 250;
export const TrackedName = line(maxTrackedName);

/** Maximum metrics of an experiment, and maximum bytes of their names. A transaction takes 4 MB. */
export const maxMetricNames = 10_000;
export const metricNamesMaxBytes = 1_000_000;

const characters = /^[/\p{L}\p{N}\p{M}_.\- :]*$/u;

const isPathOfItself = (name: string): boolean =>
  posix.normalize(name) === name && name !== '.' && !name.startsWith('..') && !name.startsWith('/');

const isWithin = (value: string, most: number): boolean =>
  value.length <= most || (value.length <= 2 * most && [...value].length <= most);

/** Schema of a text with any characters and a maximum length. */
const within = (most: number): z.ZodString =>
  z.string().refine((value) => isWithin(value, most), `exceeds the maximum length of ${most} characters`);

/** Name of a metric, param or tag, by the rules of MLflow's own server. */
export const TaggedName = z
  .string()
  .min(1)
  .refine(
    (name) => isWithin(name, maxTrackedName),
    `exceeds the maximum length of ${maxTrackedName} characters`,
  )
  .refine(
    (name) => characters.test(name),
    'Names may only contain alphanumerics, underscores (_), dashes (-), periods (.), spaces ( ), colon(:) and slashes (/).',
  )
  .refine(
    isPathOfItself,
    'Names may be treated as files in certain cases, and must not resolve to other names when treated as such.',
  );

/** Name of a metric or tag by either rule. */
export const AnyTrackedName = z.union([TrackedName, TaggedName]);

/**
 * Maximum length of a tag and of a param value, in characters. Values of MLflow's clients may contain any
 * character.
 */
export const maxTag = 8000;
export const maxParam = 6000;
/** Maximum length of a note, and of a run name from an MLflow client. */
const maxNote = 10_000;
export const maxRunName = 250;

export const ExperimentName = line(128);
export const NoteText = paragraphOrBlank(maxNote);
export const TagText = paragraphOrBlank(maxTag);
export const ParamText = paragraphOrBlank(maxParam);

export const AnyExperimentName = z.union([ExperimentName, within(maxRunName)]);
export const AnyNote = z.union([NoteText, within(maxTag)]);

/**
 * Tags whose values the service writes for MLflow's clients. Only the size of the experiment or model limits them.
 */
export const historyTag = 'mlflow.log-model.history';
export const versionsTag = 'mlflow.modelVersions';
const unbounded: ReadonlySet<string> = new Set([historyTag, versionsTag]);

const named = (name: z.ZodType<string>, value: z.ZodType<string>) =>
  z.record(z.string(), z.string()).superRefine((values, context) => {
    for (const [key, text] of Object.entries(values)) {
      const faults = [
        ...(name.safeParse(key).error?.issues ?? []).slice(0, 1),
        ...(unbounded.has(key) ? [] : (value.safeParse(text).error?.issues ?? [])),
      ];
      for (const { message } of faults)
        context.addIssue({ code: 'custom', path: [key.slice(0, 100)], message });
    }
  });

export const AnyTags = named(AnyTrackedName, within(maxTag));
/** Names of a configuration's params are its keys, which may contain any character. */
export const AnyParams = named(
  z
    .string()
    .refine((name) => name.trim() !== '', 'is blank')
    .refine(
      (name) => isWithin(name, maxTrackedName),
      `exceeds the maximum length of ${maxTrackedName} characters`,
    ),
  within(maxParam),
);
/** Params and tags of a logged model. MLflow's server does not check their names. */
export const ModelValues = named(z.string().min(1), within(maxParam));

export const GitRule = z.strictObject({
  commit: line(64),
  branch: line(250).nullable(),
  dirty: z.boolean().nullable(),
});

/** Maximum data sets and models that an experiment names. */
export const maxLinks = 1000;

const atMost = (most: number) => z.string().max(most, `exceeds the maximum length of ${most} characters`);

/** Data set that an experiment has read, as reported by an MLflow client. */
export const DatasetFields = {
  name: atMost(500).min(1),
  digest: atMost(36).min(1),
  source_type: z.string().min(1),
  source: atMost(65_535).min(1),
  schema: z.string().optional(),
  profile: z.string().optional(),
};
export const DatasetTagName = atMost(255).min(1);
export const DatasetTagValue = atMost(500);

export const DatasetRule = z.strictObject({
  ...DatasetFields,
  tags: z.record(DatasetTagName, DatasetTagValue),
});

/** Maximum magnitude of a step: an int64 as a double. */
export const maxStep = 2 ** 63;
export const Step = z
  .number()
  .refine((step) => Number.isInteger(step) && Math.abs(step) <= maxStep, 'must be an integer');
