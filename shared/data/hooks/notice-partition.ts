/** Partition of the notices. Its writers call the function that sends them. */
export const noticePartition = 'NOTICES';
