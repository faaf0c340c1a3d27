import { lambda } from '../../../shared/http/pipeline/lambda.ts';
import { uploadDownloading } from './download-upload.ts';

export const endpoint = uploadDownloading('source');

export const handler = lambda(endpoint);
