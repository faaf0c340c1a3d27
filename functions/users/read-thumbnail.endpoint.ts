import { lambda } from '../../shared/endpoint/lambda.ts';
import { pictureReading } from './picture-reading.ts';

export const endpoint = pictureReading('thumbnail');

export const handler = lambda(endpoint);
