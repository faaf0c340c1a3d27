import { lambda } from '../../../../shared/http/pipeline/lambda.ts';
import { cancelStrategyEndpoint } from '../cancel-strategy.ts';

export const endpoint = cancelStrategyEndpoint('quantize');

export const handler = lambda(endpoint);
