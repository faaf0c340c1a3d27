import { lambda } from '../../shared/http/lambda.ts';
import { uploadRequesting } from './upload-requesting.ts';

export const endpoint = uploadRequesting('source');

export const handler = lambda(endpoint);
