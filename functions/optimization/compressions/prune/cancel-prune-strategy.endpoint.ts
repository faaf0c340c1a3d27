import { cancelCompressionEndpoint } from '../cancel-compression.ts';

export const endpoint = cancelCompressionEndpoint('prune');
