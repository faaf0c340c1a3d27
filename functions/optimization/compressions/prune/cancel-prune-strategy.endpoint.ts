import { lambda } from '../../../../shared/http/pipeline/lambda.ts';
import { cancelCompressionEndpoint } from '../cancel-compression.ts';

export const endpoint = cancelCompressionEndpoint('prune');

export const handler = lambda(endpoint);
