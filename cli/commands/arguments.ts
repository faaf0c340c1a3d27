/** The experiment of a command; the newest of the project without it. */
export const experimentId = {
  brief: 'The experiment: its id, the end of it, or latest, which is meant without one',
  placeholder: 'ID',
  parse: String,
  optional: true,
} as const;
