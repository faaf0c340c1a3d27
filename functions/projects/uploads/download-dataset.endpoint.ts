import { downloadUploadEndpoint } from './download-upload.ts';

export const endpoint = downloadUploadEndpoint('dataset');
