import { lambda } from '../../../shared/endpoint/lambda.ts';
import { strategyCancelling } from './strategy-cancelling.ts';

export const endpoint = strategyCancelling('prune');

export const handler = lambda(endpoint);
