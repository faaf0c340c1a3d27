import { compressionLogs } from '../compression-logs.ts';

export const endpoint = compressionLogs('quantize');
