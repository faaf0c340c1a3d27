// Bounds of a sweep, for its schema and for its rules over several fields.

/** Maximum number of configurations of a sweep. */
export const maxTrials = 10_000;
/** Maximum number of runs of each configuration. */
export const maxRepeats = 100;
/** Maximum number of experiments of a sweep: its trials times their repeats. */
export const maxExperiments = 10_000;
/** Maximum number of parameters of a sweep. Sobol's sequence has as many dimensions. */
export const maxParameters = 100;
/** Maximum number of experiments of a sweep at once. */
export const maxParallel = 1000;
