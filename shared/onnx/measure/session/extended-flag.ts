/** Argument of a stage's program: its sessions take the extended optimizations of graphs, not all. */
export const extendedFlag = '--graph-optimization=extended';
