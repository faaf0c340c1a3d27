import { lambda } from '../../../../shared/http/pipeline/lambda.ts';
import { deleteCompressionEndpoint } from '../delete-compression.ts';

export const endpoint = deleteCompressionEndpoint('prune');

export const handler = lambda(endpoint);
