/** The one media type of bytes that every generator of clients knows; of others they make nothing, or a warning. */
export const bytesMediaType = 'application/octet-stream';
