/** Argument of a stage's program. Its sessions then use the `extended` graph optimizations instead of `all`. */
export const extendedFlag = '--graph-optimization=extended';
