import { lambda } from '../../../../shared/http/pipeline/lambda.ts';
import { strategyCancelling } from '../cancel-strategy.ts';

export const endpoint = strategyCancelling('prune');

export const handler = lambda(endpoint);
