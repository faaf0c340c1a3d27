import { lambda } from '../../../shared/endpoint/lambda.ts';
import { resultDownload } from './result-download.ts';

export const endpoint = resultDownload('prune');

export const handler = lambda(endpoint);
