// Bounds of a sweep, for its schema and for its rules over several fields.

/** Most configurations of a sweep. */
export const maxTrials = 10_000;
/** Most runs of each configuration. */
export const maxRepeats = 100;
/** Maximum number of experiments of a sweep: its trials times their repeats. */
export const maxExperiments = 10_000;
/** Most parameters of a sweep. Sobol's sequence has as many dimensions. */
export const maxParameters = 100;
/** Maximum number of experiments of a sweep at once. */
export const maxParallel = 1000;
