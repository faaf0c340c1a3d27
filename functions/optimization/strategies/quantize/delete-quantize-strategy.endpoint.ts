import { lambda } from '../../../../shared/http/pipeline/lambda.ts';
import { deleteStrategyEndpoint } from '../delete-strategy.ts';

export const endpoint = deleteStrategyEndpoint('quantize');

export const handler = lambda(endpoint);
