/** Life of an upload URL: until it dies an object may appear, even where its project was deleted meanwhile. */
export const uploadSeconds = 60 * 60;
