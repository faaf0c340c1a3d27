import { lambda } from '../../shared/endpoint/lambda.ts';
import { pictureReading } from './picture-reading.ts';

export const endpoint = pictureReading('profile_picture');

export const handler = lambda(endpoint);
