/** What this service does where others stop, fail, or need more. `main.ts` checks each against the running product. */
export const truths = [
  {
    name: 'upgrade',
    what: 'An upgrade stops no training',
    shown: 'a job that the earlier version started ends once, and under the new one',
  },
  {
    name: 'compare',
    what: '50 runs are compared in one request',
    shown: '50 runs with 50 values of a param, each beside its metric; 51 are refused, with the limit',
  },
  {
    name: 'budget',
    what: 'A budget ends a training at a checkpoint',
    shown: 'a training is stopped once it has cost its budget, and a rerun goes on from its checkpoint',
  },
  {
    name: 'machine',
    what: 'Every job has metrics of its machine, without an agent or a change',
    shown: 'a shell script has curves of processor, memory and disk, and its peak beside what it asked for',
  },
  {
    name: 'wait',
    what: 'What finds no room waits in line, and does not fail',
    shown: 'four trainings at a limit of one: the others say where they stand in line, and all four succeed',
  },
] as const;

export type TruthName = (typeof truths)[number]['name'];

export const rowOf = ({ what, shown }: (typeof truths)[number]): string => `| ${what} | ${shown} |`;

/** The table of the README. */
export const truthsTable = (): string =>
  ['| what | `npm run proof -- truths` shows it |', '|---|---|', ...truths.map(rowOf)].join('\n');
