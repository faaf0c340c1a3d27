import { lambda } from '../../../../shared/http/pipeline/lambda.ts';
import { strategyDeleting } from '../delete-strategy.ts';

export const endpoint = strategyDeleting('prune');

export const handler = lambda(endpoint);
