import { lambda } from '../../../../shared/http/pipeline/lambda.ts';
import { readCompressionEndpoint } from '../read-compression.ts';

export const endpoint = readCompressionEndpoint('prune');

export const handler = lambda(endpoint);
