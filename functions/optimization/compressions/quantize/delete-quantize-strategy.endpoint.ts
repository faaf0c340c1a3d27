import { lambda } from '../../../../shared/http/pipeline/lambda.ts';
import { deleteCompressionEndpoint } from '../delete-compression.ts';

export const endpoint = deleteCompressionEndpoint('quantize');

export const handler = lambda(endpoint);
