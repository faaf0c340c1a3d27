import { lambda } from '../../../../shared/http/pipeline/lambda.ts';
import { compressionLogs } from '../compression-logs.ts';

export const endpoint = compressionLogs('prune');

export const handler = lambda(endpoint);
