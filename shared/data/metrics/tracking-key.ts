/**
 * Everything by which experiments of a project are searched and compared and which their own records do not hold. It
 * lies apart from them, because a running job writes its record often, and by experiment, so that one query reads it for
 * a page of them.
 */
export const trackingPartition = (project_id: string): string => `TRACKING#${project_id}`;

/** Beginning of the sort keys of one experiment. */
export const trackingPrefix = (experiment_id: string): string => `${experiment_id}#`;
