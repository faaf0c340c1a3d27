import { lambda } from '../../../shared/http/pipeline/lambda.ts';
import { uploadRequesting } from './request-upload.ts';

export const endpoint = uploadRequesting('dataset');

export const handler = lambda(endpoint);
