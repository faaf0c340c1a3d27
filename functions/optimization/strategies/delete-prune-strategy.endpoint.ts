import { lambda } from '../../../shared/http/lambda.ts';
import { strategyDeleting } from './strategy-deleting.ts';

export const endpoint = strategyDeleting('prune');

export const handler = lambda(endpoint);
