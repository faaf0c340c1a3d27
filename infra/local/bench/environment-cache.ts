import type { Group } from './group.ts';

export const environmentCache: Group = {
  name: 'environment-cache',
  title: 'environment-cache',
  measure: async () => [],
};
