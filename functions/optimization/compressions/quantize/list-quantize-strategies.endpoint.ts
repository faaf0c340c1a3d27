import { lambda } from '../../../../shared/http/pipeline/lambda.ts';
import { compressionList } from '../compression-list.ts';

export const endpoint = compressionList('quantize');

export const handler = lambda(endpoint);
