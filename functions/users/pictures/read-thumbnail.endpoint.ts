import { lambda } from '../../../shared/http/pipeline/lambda.ts';
import { pictureReading } from './read-picture.ts';

export const endpoint = pictureReading('thumbnail');

export const handler = lambda(endpoint);
