/**
 * Lifetime of an upload URL in seconds. Until it expires, an object may still appear, even after its project was
 * deleted.
 */
export const uploadSeconds = 60 * 60;
