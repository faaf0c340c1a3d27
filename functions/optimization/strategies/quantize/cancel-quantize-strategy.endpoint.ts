import { lambda } from '../../../../shared/http/pipeline/lambda.ts';
import { strategyCancelling } from '../cancel-strategy.ts';

export const endpoint = strategyCancelling('quantize');

export const handler = lambda(endpoint);
