import { lambda } from '../../../shared/http/lambda.ts';
import { resultDownload } from './result-download.ts';

export const endpoint = resultDownload('prune');

export const handler = lambda(endpoint);
