import { lambda } from '../../../shared/http/pipeline/lambda.ts';
import { readPictureEndpoint } from './read-picture.ts';

export const endpoint = readPictureEndpoint('profile_picture');

export const handler = lambda(endpoint);
