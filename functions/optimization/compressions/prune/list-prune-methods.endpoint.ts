import { lambda } from '../../../../shared/http/pipeline/lambda.ts';
import { methodList } from '../method-list.ts';

export const endpoint = methodList('prune');

export const handler = lambda(endpoint);
