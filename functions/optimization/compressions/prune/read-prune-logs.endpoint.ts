import { compressionLogs } from '../compression-logs.ts';

export const endpoint = compressionLogs('prune');
