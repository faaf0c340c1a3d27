import { lambda } from '../../../shared/http/lambda.ts';
import { strategyReading } from './strategy-reading.ts';

export const endpoint = strategyReading('quantize');

export const handler = lambda(endpoint);
