import type { Group } from './group.ts';

export const firstLine: Group = { name: 'first-line', title: 'first-line', measure: async () => [] };
