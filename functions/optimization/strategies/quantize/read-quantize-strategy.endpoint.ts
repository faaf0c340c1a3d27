import { lambda } from '../../../../shared/http/pipeline/lambda.ts';
import { readStrategyEndpoint } from '../read-strategy.ts';

export const endpoint = readStrategyEndpoint('quantize');

export const handler = lambda(endpoint);
