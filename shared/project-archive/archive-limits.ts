/** Seconds for which an archive is kept, after the last step that was done with it. */
const keptSeconds = 24 * 60 * 60;
/** Seconds before that at which nothing new is begun: what is left may be removed at any moment from then on. */
const spareSeconds = 60 * 60;

/** Until when an archive is kept with which something is done now. */
export const keptUntil = (now: Date): string => new Date(now.getTime() + keptSeconds * 1000).toISOString();

/** Whether what is kept until then may be removed while it is worked on. */
export const mayExpire = (until: string, now: Date): boolean =>
  Date.parse(until) - spareSeconds * 1000 < now.getTime();

/** Passes that may fail for no known reason, one after the other, before the work is given up. */
export const maxPassesThatFail = 5;

/** Seconds that a request spends on an archive, of the 29 that it has in all. */
export const secondsInRequest = 8;
const bytesInRequest = 100_000_000;
const experimentsInRequest = 500;

/** Whether a request works on an archive at all: then no file is so large that one step outlasts it. */
export const mayRunInRequest = (bytes: number, experiments: number): boolean =>
  bytes <= bytesInRequest && experiments <= experimentsInRequest;
