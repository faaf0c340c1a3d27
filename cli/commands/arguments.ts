import { configNames, datasetNames, experimentIds, modelNames, sweepIds } from './live-names.ts';

const experiment = { placeholder: 'ID', parse: String, proposeCompletions: experimentIds } as const;

/** ID of an experiment. Default: the newest experiment of the project. */
export const experimentId = {
  ...experiment,
  brief: 'ID of the experiment, the end of its ID, or latest (default)',
  optional: true,
} as const;

/** ID of a sweep. Default: the newest sweep of the project. */
export const sweepId = {
  placeholder: 'ID',
  parse: String,
  proposeCompletions: sweepIds,
  brief: 'ID of the sweep, the end of its ID, or latest (default)',
  optional: true,
} as const;

/** One of several experiment IDs. */
export const experimentIdOf = (brief: string) => ({ ...experiment, brief }) as const;

export const modelArgument = {
  brief: 'Name of the model',
  placeholder: 'MODEL',
  parse: String,
  proposeCompletions: modelNames,
} as const;

export const configArgument = {
  brief: 'File name of the configuration',
  placeholder: 'NAME',
  parse: String,
  proposeCompletions: configNames,
} as const;

export const datasetArgument = {
  brief: 'Name of the data set',
  placeholder: 'NAME',
  parse: String,
  proposeCompletions: datasetNames,
} as const;

/** A local file or folder. */
export const localPath = (brief: string) => ({ brief, placeholder: 'PATH', parse: String }) as const;
