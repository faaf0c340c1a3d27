import { lambda } from '../../../shared/http/lambda.ts';
import { strategyLogs } from './strategy-logs.ts';

export const endpoint = strategyLogs('quantize');

export const handler = lambda(endpoint);
