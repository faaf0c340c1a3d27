import { compressionList } from '../compression-list.ts';

export const endpoint = compressionList('prune');
