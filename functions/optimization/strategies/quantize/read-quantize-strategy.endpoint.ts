import { lambda } from '../../../../shared/http/pipeline/lambda.ts';
import { strategyReading } from '../read-strategy.ts';

export const endpoint = strategyReading('quantize');

export const handler = lambda(endpoint);
