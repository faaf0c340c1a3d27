import { lambda } from '../../shared/http/lambda.ts';
import { uploadDownloading } from './upload-downloading.ts';

export const endpoint = uploadDownloading('dataset');

export const handler = lambda(endpoint);
