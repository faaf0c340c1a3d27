import { lambda } from '../../../../shared/http/pipeline/lambda.ts';
import { cancelStrategyEndpoint } from '../cancel-strategy.ts';

export const endpoint = cancelStrategyEndpoint('prune');

export const handler = lambda(endpoint);
