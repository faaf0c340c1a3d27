import { readCompressionEndpoint } from '../read-compression.ts';

export const endpoint = readCompressionEndpoint('quantize');
