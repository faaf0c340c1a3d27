import { lambda } from '../../../../shared/http/pipeline/lambda.ts';
import { readCompressionEndpoint } from '../read-compression.ts';

export const endpoint = readCompressionEndpoint('quantize');

export const handler = lambda(endpoint);
