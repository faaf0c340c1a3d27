import { lambda } from '../../../shared/http/lambda.ts';
import { strategyCancelling } from './strategy-cancelling.ts';

export const endpoint = strategyCancelling('prune');

export const handler = lambda(endpoint);
