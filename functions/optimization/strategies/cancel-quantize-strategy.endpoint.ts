import { lambda } from '../../../shared/http/lambda.ts';
import { strategyCancelling } from './strategy-cancelling.ts';

export const endpoint = strategyCancelling('quantize');

export const handler = lambda(endpoint);
