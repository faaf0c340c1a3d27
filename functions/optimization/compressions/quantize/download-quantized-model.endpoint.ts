import { resultDownload } from '../result-download.ts';

export const endpoint = resultDownload('quantize');
