import { lambda } from '../../shared/endpoint/lambda.ts';
import { strategyReading } from './strategy-details.ts';

export const endpoint = strategyReading('prune');

export const handler = lambda(endpoint);
