import { lambda } from '../../../../shared/http/pipeline/lambda.ts';
import { resultDownload } from '../result-download.ts';

export const endpoint = resultDownload('prune');

export const handler = lambda(endpoint);
