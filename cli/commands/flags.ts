import { projectNames } from './live-names.ts';

/** Flags that several commands have, the same everywhere. */
export const verbose = {
  kind: 'boolean',
  brief: 'Show request ids and the stack of a defect',
  optional: true,
  withNegated: false,
} as const;

export const json = {
  kind: 'boolean',
  brief: 'Print JSON for scripts',
  optional: true,
  withNegated: false,
} as const;

export const detach = {
  kind: 'boolean',
  brief: 'Return after the submission',
  optional: true,
  withNegated: false,
} as const;

export const yes = {
  kind: 'boolean',
  brief: 'Do not ask',
  optional: true,
  withNegated: false,
} as const;

export const force = {
  kind: 'boolean',
  brief: 'Replace files that are there already',
  optional: true,
  withNegated: false,
} as const;

export const project = {
  kind: 'parsed',
  parse: String,
  proposeCompletions: projectNames,
  placeholder: 'NAME|ID',
  brief: 'The project; that of mps.yaml or of the folder without it',
  optional: true,
} as const;
