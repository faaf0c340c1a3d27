import { lambda } from '../../../../shared/http/pipeline/lambda.ts';
import { strategyList } from '../strategy-list.ts';

export const endpoint = strategyList('prune');

export const handler = lambda(endpoint);
