import * as z from 'zod';
import { requireSweep } from '../../../shared/data/sweeps/sweep.ts';
import { allRuns, listRuns, sortKeyOfRun } from '../../../shared/data/sweeps/sweep-run.ts';
import { readRecords } from '../../../shared/data/table/needs.ts';
import { preferredMediaType } from '../../../shared/http/body/accept.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { content } from '../../../shared/http/definition/endpoint-output.ts';
import { answerList, paging } from '../../../shared/http/definition/pagination.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';
import { specOf } from '../../../shared/sweeps/trials/advance-sweep.ts';
import { sweepPath } from './sweep.ts';
import { compareTrials, readOrder, trialOrder, trialsAfter } from './trial-order.ts';
import { type Trial, TrialAnswer, trialRows } from './trial-rows.ts';
import { trialsAsCsv } from './trials-as-csv.ts';

const ndjson = 'application/x-ndjson';
const csv = 'text/csv';

export const endpoint = defineEndpoint({
  name: 'listTrials',
  method: 'GET',
  path: '/projects/{project_id}/sweeps/{sweep_id}/trials',
  summary: 'The experiments of a sweep, with the values that they tried and reached',
  description:
    'One row for each repeat of a trial, in the order in which they began. By Accept also as NDJSON (`application/x-ndjson`) and CSV (`text/csv`).',
  allow: 'viewer',
  project: 'viewer',
  needs: { records: readRecords },
  input: { path: sweepPath, query: z.strictObject({ order_by: trialOrder.optional(), ...paging }) },
  work: 'heavy: with an order all runs of the sweep, at most 10,000; otherwise a page',
  output: { 200: content([ndjson, csv], z.array(TrialAnswer)) },
  isHeavy: ({ query: { order_by } }) => order_by !== undefined,

  async handle({ path, query }, { records, now, header }) {
    const sweep = await requireSweep(records, path.project_id, path.sweep_id);
    const { repeats, parameters } = specOf(sweep);
    const { order_by } = query;
    const at = now();
    const keyOf = ({ trial, repeat }: Trial) => sortKeyOfRun(sweep, trial * repeats + repeat - 1);
    const order = order_by === undefined ? undefined : readOrder(order_by);
    const sorted = order && {
      order,
      trials: (await trialRows(records, sweep, await allRuns(records, sweep), at)).sort(compareTrials(order)),
    };
    const reply = await answerList(query, {
      fetch: async (page) => {
        if (sorted !== undefined) return trialsAfter(sorted.trials, sorted.order, page);
        const { items, ...rest } = await listRuns(records, sweep, page);
        return { ...rest, items: await trialRows(records, sweep, items, at) };
      },
      keyOf: (trial) => (sorted === undefined ? keyOf(trial) : sorted.order.keyOf(trial)),
      show: (trial) => trial,
    });
    const accepted = preferredMediaType(header('accept'), ['application/json', ndjson, csv]);
    const headers = { Vary: 'Accept' };
    if (accepted === 'application/json' || reply.body.kind !== 'json') return reply.with(headers);
    const { next, unreadable, body } = reply;
    const text =
      accepted === csv
        ? trialsAsCsv(body.value, Object.keys(parameters))
        : body.value.map((trial) => `${JSON.stringify(trial)}\n`).join('');
    return Reply.content(`${accepted}; charset=utf-8`, text, { headers, next, unreadable });
  },
});
