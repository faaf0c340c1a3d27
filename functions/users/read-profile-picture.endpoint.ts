import { lambda } from '../../shared/http/lambda.ts';
import { pictureReading } from './picture-reading.ts';

export const endpoint = pictureReading('profile_picture');

export const handler = lambda(endpoint);
