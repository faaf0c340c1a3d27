import type { Group } from './group.ts';

export const logShipping: Group = { name: 'log-shipping', title: 'log-shipping', measure: async () => [] };
