import { lambda } from '../../../../shared/http/pipeline/lambda.ts';
import { compressionLogs } from '../compression-logs.ts';

export const endpoint = compressionLogs('quantize');

export const handler = lambda(endpoint);
