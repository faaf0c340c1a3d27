import { lambda } from '../../../../shared/http/pipeline/lambda.ts';
import { cancelCompressionEndpoint } from '../cancel-compression.ts';

export const endpoint = cancelCompressionEndpoint('quantize');

export const handler = lambda(endpoint);
