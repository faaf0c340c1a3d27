import { requestUploadEndpoint } from './request-upload.ts';

export const endpoint = requestUploadEndpoint('dataset');
