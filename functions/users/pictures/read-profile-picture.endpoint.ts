import { lambda } from '../../../shared/http/pipeline/lambda.ts';
import { pictureReading } from './read-picture.ts';

export const endpoint = pictureReading('profile_picture');

export const handler = lambda(endpoint);
