import type { Group } from './group.ts';

export const storage: Group = { name: 'storage', title: 'storage', measure: async () => [] };
