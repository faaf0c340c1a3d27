import { lambda } from '../../../shared/http/pipeline/lambda.ts';
import { requestUploadEndpoint } from './request-upload.ts';

export const endpoint = requestUploadEndpoint('source');

export const handler = lambda(endpoint);
