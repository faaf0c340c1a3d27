import { methodList } from '../method-list.ts';

export const endpoint = methodList('prune');
