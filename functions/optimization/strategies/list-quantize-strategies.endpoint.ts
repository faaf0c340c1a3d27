import { lambda } from '../../../shared/http/lambda.ts';
import { strategyList } from './strategy-list.ts';

export const endpoint = strategyList('quantize');

export const handler = lambda(endpoint);
