import { lambda } from '../../../shared/http/pipeline/lambda.ts';
import { downloadUploadEndpoint } from './download-upload.ts';

export const endpoint = downloadUploadEndpoint('source');

export const handler = lambda(endpoint);
