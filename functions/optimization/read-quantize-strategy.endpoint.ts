import { lambda } from '../../shared/endpoint/lambda.ts';
import { strategyReading } from './strategy-details.ts';

export const endpoint = strategyReading('quantize');

export const handler = lambda(endpoint);
