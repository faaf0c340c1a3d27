import { lambda } from '../../../../shared/http/pipeline/lambda.ts';
import { deleteStrategyEndpoint } from '../delete-strategy.ts';

export const endpoint = deleteStrategyEndpoint('prune');

export const handler = lambda(endpoint);
