import { readPictureEndpoint } from './read-picture.ts';

export const endpoint = readPictureEndpoint('thumbnail');
