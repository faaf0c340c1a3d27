import { lambda } from '../../shared/http/lambda.ts';
import { pictureReading } from './picture-reading.ts';

export const endpoint = pictureReading('thumbnail');

export const handler = lambda(endpoint);
