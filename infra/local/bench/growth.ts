import type { Group } from './group.ts';

export const growth: Group = { name: 'growth', title: 'growth', measure: async () => [] };
