import { lambda } from '../../../shared/http/lambda.ts';
import { strategyDeleting } from './strategy-deleting.ts';

export const endpoint = strategyDeleting('quantize');

export const handler = lambda(endpoint);
