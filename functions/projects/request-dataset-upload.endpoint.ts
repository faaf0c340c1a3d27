import { lambda } from '../../shared/http/lambda.ts';
import { uploadRequesting } from './upload-requesting.ts';

export const endpoint = uploadRequesting('dataset');

export const handler = lambda(endpoint);
