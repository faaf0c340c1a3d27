import { lambda } from '../../../shared/http/pipeline/lambda.ts';
import { uploadDownloading } from './download-upload.ts';

export const endpoint = uploadDownloading('dataset');

export const handler = lambda(endpoint);
