import { deleteCompressionEndpoint } from '../delete-compression.ts';

export const endpoint = deleteCompressionEndpoint('prune');
