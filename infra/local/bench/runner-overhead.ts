import type { Group } from './group.ts';

export const runnerOverhead: Group = {
  name: 'runner-overhead',
  title: 'runner-overhead',
  measure: async () => [],
};
