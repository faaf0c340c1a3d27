import { lambda } from '../../../../shared/http/pipeline/lambda.ts';
import { strategyLogs } from '../strategy-logs.ts';

export const endpoint = strategyLogs('prune');

export const handler = lambda(endpoint);
